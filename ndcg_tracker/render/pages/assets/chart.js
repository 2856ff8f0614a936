"use strict";
(() => {
  const { chart, themes } = JSON.parse(document.getElementById("page").textContent);
  let view = null;
  async function draw() {
    view?.finalize();
    view = await drawThemed(document.getElementById("chart"), chart, themes);
    document.documentElement.dataset.ready = "yes";
  }
  darkTheme.addEventListener("change", draw);
  draw();
})();
