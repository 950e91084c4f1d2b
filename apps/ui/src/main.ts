import 'uplot/dist/uPlot.min.css';
import './theme.css';
import './cluster.css';
import './health.css';
import './panels.css';
import './timeline.css';
import './player/player.css';
import './narrow.css';
import { startPage } from './page';
import { savedRun } from './player/saved-run';

startPage(document.body, savedRun());
