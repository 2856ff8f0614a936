"use strict";
// Draws a chart in the theme that the reader's screen asks for.
globalThis.darkTheme = matchMedia("(prefers-color-scheme: dark)");
globalThis.drawThemed = (element, spec, themes) => {
  const { title, ...rest } = spec; // the page has its own headings
  const theme = themes[darkTheme.matches ? "dark" : "light"];
  const whole = { ...rest, config: theme.config, params: [...theme.params, ...(spec.params || [])] };
  const renderer = (spec.data?.values?.length ?? 0) > 1000 ? "canvas" : "svg";
  return drawChart(element, whole, { renderer }).then((result) => {
    element.querySelector("details > summary").setAttribute("aria-label", "save this chart");
    return result.view;
  });
};
