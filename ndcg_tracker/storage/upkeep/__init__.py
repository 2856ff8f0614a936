"""Keep a database usable: migrations, backups and health checks."""
