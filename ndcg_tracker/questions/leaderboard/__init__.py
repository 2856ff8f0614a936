"""Which run is the best, and between which ranks may each stand?"""
