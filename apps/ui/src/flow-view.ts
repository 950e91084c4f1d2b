import { type ClusterModel, engineNames } from './cluster-model';
import { make, setText } from './element';
import { FlowCanvas } from './flow-canvas';
import { type FlowBoxes, FlowScene } from './flow-scene';
import { formatCount } from './format';
import { LanesView } from './lanes-view';
import { onScheme } from './palette';

/**
 * Engines and requests: the lanes, and the dots that move over them. A click on a dot opens the
 * timeline of its request.
 */
export class FlowView {
  readonly element: HTMLElement;
  private readonly scene = new FlowScene();
  private readonly canvas = new FlowCanvas(this.scene);
  private readonly lanes = new LanesView();
  private readonly hint = make('div', { class: 'hint', hidden: true });
  private boxes: FlowBoxes | undefined;
  private shape = '';

  constructor(
    private readonly model: ClusterModel,
    private readonly open: (name: string) => void,
  ) {
    const parts = [this.lanes.element, this.canvas.element, this.hint];
    this.element = make('div', { class: 'flow-frame' }, parts);
    const motion = matchMedia('(prefers-reduced-motion: reduce)');
    const follow = (): void => void (this.scene.isStill = motion.matches);
    motion.addEventListener('change', follow);
    follow();
    onScheme(() => this.canvas.repaint());
    new ResizeObserver(() => this.measure()).observe(this.element);
    this.element.addEventListener('pointermove', (event) => this.point(event));
    this.element.addEventListener('pointerleave', () => this.mark(undefined));
    this.element.addEventListener('click', (event) => this.choose(event));
  }

  show(): void {
    this.lanes.show(this.model);
    if (this.lanes.shape !== this.shape) this.measure();
    if (this.boxes === undefined) return;
    this.scene.update(this.model, this.boxes);
    this.canvas.run();
  }

  /** Reads positions from the page, only after changes of the layout. */
  private measure(): void {
    const origin = this.element.getBoundingClientRect();
    this.shape = this.lanes.shape;
    this.boxes = this.lanes.boxes(origin);
    this.canvas.resize(origin.width, origin.height);
    this.scene.update(this.model, this.boxes);
    this.canvas.run();
  }

  private choose(event: MouseEvent): void {
    const request = this.model.requests.get(this.dotAt(event)?.key ?? -1);
    if (request) this.open(request.name);
  }

  private point(event: MouseEvent): void {
    const dot = this.dotAt(event);
    this.mark(dot?.key);
    const request = this.model.requests.get(dot?.key ?? -1);
    if (!dot || !request) return;
    const engine = engineNames(this.model.engines).get(request.engine ?? '') ?? '';
    const tokens =
      `${formatCount(request.promptTokens)} prompt tokens, ${request.tokens} of ` +
      'at most ' +
      `${request.maxTokens} out`;
    setText(this.hint, `${request.name}\n${request.phase} ${engine}\n${tokens}`);
    const isLeft = dot.x > this.element.clientWidth / 2;
    this.hint.style.left = isLeft ? '' : `${dot.x + 18}px`;
    this.hint.style.right = isLeft ? `${this.element.clientWidth - dot.x + 8}px` : '';
    this.hint.style.top = `${dot.y + 18}px`;
  }

  private mark(key: number | undefined): void {
    this.hint.hidden = key === undefined;
    this.element.classList.toggle('at-request', key !== undefined);
    if (this.canvas.marked === key) return;
    this.canvas.marked = key;
    this.canvas.draw();
  }

  private dotAt({ clientX, clientY }: MouseEvent) {
    const { left, top } = this.element.getBoundingClientRect();
    return this.scene.at(clientX - left, clientY - top);
  }
}
