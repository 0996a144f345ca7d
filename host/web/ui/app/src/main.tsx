import { render } from "preact";
import "./style/base.css";
import "./style/controls.css";
import "./style/shell.css";
import "./style/timeline.css";
import "./style/views.css";
import { watchClock } from "./clock/now";
import { start } from "./journal/store";
import { Shell } from "./shell";
import { applyTheme } from "./ui/theme";

applyTheme();
start();
watchClock();
const page = document.getElementById("page");
if (page) render(<Shell />, page);
