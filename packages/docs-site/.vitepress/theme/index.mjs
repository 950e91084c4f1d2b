/* global document */
import { useData, useRoute, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { nextTick, onMounted, watch } from 'vue';
import './site.css';

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    const { isDark } = useData();
    const draw = () => nextTick(() => drawAll(isDark.value));
    onMounted(draw);
    watch([() => route.path, isDark], draw);
  },
};

/** Draws the Mermaid blocks of the page; the first page that has one loads the library. */
async function drawAll(isDark) {
  const blocks = [...document.querySelectorAll('pre.mermaid')];
  if (blocks.length === 0) return;
  globalThis.mermaid ?? (await loadScript(withBase('/mermaid.min.js')));
  globalThis.mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'neutral' });
  for (const block of blocks) {
    block.dataset.source ??= block.textContent;
    block.textContent = block.dataset.source;
    delete block.dataset.processed;
  }
  await globalThis.mermaid.run({ nodes: blocks });
}

function loadScript(src) {
  return new Promise((loaded, failed) => {
    const script = Object.assign(document.createElement('script'), { src, onload: loaded });
    script.onerror = () => failed(new Error(`${src} could not be loaded`));
    document.head.append(script);
  });
}
