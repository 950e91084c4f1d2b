import 'uplot/dist/uPlot.min.css';
import './page.css';
import { startPage } from './page';

startPage(document.body);
