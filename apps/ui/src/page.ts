import type { ClusterHello, ClusterPicture } from '@baton/contract';
import { ApiClient } from './api-client';
import { Charts } from './charts/charts';
import { ClusterModel } from './cluster-model';
import { make } from './element';
import { FlowView } from './flow-view';
import { Headline } from './headline';
import { Health } from './health/health';
import { HealthView } from './health/health-view';
import { LiveStream } from './live-stream';
import { RateHistory } from './charts/rate-history';
import { RunPlayer } from './player/run-player';
import type { SavedRun } from './player/saved-run';
import { RequestList } from './requests/request-list';
import { ScalingForm } from './scaling-form';
import { SendForm } from './requests/send-form';
import { StepTimesView } from './step-times/step-times-view';
import { SettingsPanel } from './settings-panel';
import { TimelineDialog } from './timeline-dialog';

const RECORDED = 'This page shows a recorded run, without a live cluster.';

/**
 * Builds the page and updates it from the stream of a cluster, or from a recording.
 *
 * @param recording undefined: the page is live
 */
export function startPage(root: HTMLElement, recording?: SavedRun): void {
  const model = new ClusterModel();
  const history = new RateHistory();
  const api: ApiClient = new ApiClient(() => showSettings(), recording && RECORDED);
  const health = new Health(recording !== undefined);
  const scaling = new ScalingForm(api, model, (id) => health.expectLeave(id));
  const settings = new SettingsPanel(api, scaling.element);
  const showSettings = (): void => {
    if (model.hello?.hasSettings) void settings.start();
  };
  const dialog = new TimelineDialog(api);
  const open = (name: string): void => void dialog.open(name);
  const headline = new Headline();
  const healthView = new HealthView(recording !== undefined);
  const flow = new FlowView(model, open);
  const stepTimes = new StepTimesView();
  const charts = new Charts(history);
  const sender = new SendForm(api, model, open);
  const isOpen = (name: string): boolean => dialog.isOpen(name);
  const list = new RequestList(model, open, isOpen, sender.element);
  const cluster = make('section', { class: 'panel cluster', 'aria-label': 'Cluster' }, [
    flow.element,
    stepTimes.element,
  ]);
  const lower = make('div', { class: 'lower' }, [list.element, settings.element]);
  const main = make('main', {}, [healthView.element, cluster, charts.element, lower]);
  root.append(headline.element, main, dialog.element);
  const begin = (hello: ClusterHello): void => {
    model.begin(hello);
    showSettings();
    history.clear();
    health.clear();
  };
  const see = (picture: ClusterPicture): void => {
    model.update(picture);
    history.add(picture.at, picture.rates);
    health.update(model);
    flow.show();
  };
  const showFigures = (): void => {
    headline.show(model);
    healthView.show(health.findings, model.atMs);
    stepTimes.show(model.stepTimes);
    charts.show();
    sender.show();
    scaling.show();
    list.show();
  };
  if (recording === undefined) return follow({ headline, begin, see, showFigures });
  headline.enter('recorded');
  sender.element.hidden = true;
  const player = new RunPlayer(recording, {
    onBegin: (hello) => {
      model.forget();
      begin(hello);
    },
    onPassed: ({ at, rates }) => history.add(at, rates),
    onPicture: (picture) => {
      see(picture);
      showFigures();
    },
  });
  main.prepend(player.element);
  player.start();
}

interface PageParts {
  readonly headline: Headline;
  readonly begin: (hello: ClusterHello) => void;
  readonly see: (picture: ClusterPicture) => void;
  readonly showFigures: () => void;
}

function follow({ headline, begin, see, showFigures }: PageParts): void {
  let pictures = 0;
  new LiveStream({
    onState: (state) => headline.enter(state),
    onHello: begin,
    onPicture: (picture) => {
      see(picture);
      // Tables of figures change half as often, so that they are readable.
      if ((pictures += 1) % 2 === 1) showFigures();
    },
  }).start();
}
