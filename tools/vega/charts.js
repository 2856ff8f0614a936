// Vega-Lite charts without eval: expressions run in Vega's interpreter, so a page needs no 'unsafe-eval'.
import embed from "vega-embed";
import { expressionInterpreter } from "vega-interpreter";

globalThis.drawChart = (element, spec, options = {}) =>
  embed(element, spec, {
    actions: { export: true, source: false, compiled: false, editor: false },
    tooltip: { disableDefaultStyle: true },
    defaultStyle: false,
    forceActionsMenu: true,
    logLevel: 1,
    ...options,
    ast: true,
    expr: expressionInterpreter,
  });
