/* global document, location, localStorage, navigator, URL, window */
// Runs a page of the guide that was opened from file://, where its modules do not load: links,
// folding groups, the theme, copying, drawings and search. Over HTTP it does nothing.
(() => {
  if (location.protocol !== 'file:') return;
  const root = new URL('.', document.currentScript.src);
  const inSite = (path) => new URL(path === '/' ? 'index.html' : path.slice(1), root).href;

  for (const link of document.querySelectorAll('a[href^="/"]')) {
    link.href = inSite(link.getAttribute('href'));
  }
  for (const image of document.querySelectorAll('img[src^="/"]')) {
    image.src = inSite(image.getAttribute('src'));
  }
  for (const group of document.querySelectorAll('.VPSidebarItem.collapsible')) {
    const isOpen = group.querySelector('.link.active, .is-active') !== null;
    if (isOpen) group.classList.remove('collapsed');
    const fold = () => group.classList.toggle('collapsed');
    group.querySelector('.item').addEventListener('click', fold);
  }
  // In a narrow window both buttons open the list of pages, which has every link of the bar.
  on('.VPLocalNav .menu, .VPNavBarHamburger', () => {
    document.querySelector('.VPSidebar').classList.toggle('open');
  });
  on('#VPContent', () => document.querySelector('.VPSidebar')?.classList.remove('open'));
  on('.VPSwitchAppearance', () => {
    const isDark = document.documentElement.classList.toggle('dark');
    localStorage.setItem('vitepress-theme-appearance', isDark ? 'dark' : 'light');
  });
  on('button.copy', ({ currentTarget }) => {
    const code = currentTarget.parentElement.querySelector('code');
    return navigator.clipboard.writeText(code.textContent);
  });
  on('.DocSearch-Button', search);
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void search();
  });
  void draw();

  function on(selector, act) {
    for (const each of document.querySelectorAll(selector)) each.addEventListener('click', act);
  }

  function loaded(name) {
    return new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement('script'), { src: inSite(`/${name}`) });
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${name} could not be loaded`));
      document.head.append(script);
    });
  }

  async function draw() {
    const nodes = [...document.querySelectorAll('pre.mermaid')];
    if (nodes.length === 0) return;
    await loaded('mermaid.min.js');
    const isDark = document.documentElement.classList.contains('dark');
    window.mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'neutral' });
    await window.mermaid.run({ nodes });
  }

  /** The same search as that of the modules, in a plain dialog. */
  async function search() {
    const dialog = document.querySelector('.search-from-file') ?? searchDialog();
    if (!dialog.open) dialog.showModal();
    dialog.querySelector('input').focus();
    if (window.guide !== undefined) return;
    await Promise.all([loaded('mini-search.js'), loaded('search-index.js')]);
    dialog.index = window.MiniSearch.loadJSON(window.guide, {
      fields: ['title', 'titles', 'text'],
      storeFields: ['title', 'titles'],
      searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
    });
    show(dialog);
  }

  function searchDialog() {
    const dialog = Object.assign(document.createElement('dialog'), {
      className: 'search-from-file',
    });
    const input = Object.assign(document.createElement('input'), { type: 'search' });
    input.setAttribute('aria-label', 'Search');
    input.addEventListener('input', () => show(dialog));
    dialog.append(input, document.createElement('ul'));
    dialog.addEventListener('click', ({ target }) => {
      if (target !== input) dialog.close();
    });
    document.body.append(dialog);
    return dialog;
  }

  function show(dialog) {
    const found = dialog.index?.search(dialog.querySelector('input').value).slice(0, 16) ?? [];
    const rows = found.map(({ id, title, titles }) => {
      const link = Object.assign(document.createElement('a'), { href: inSite(id) });
      link.textContent = [...titles, title].join(' › ');
      const row = document.createElement('li');
      row.append(link);
      return row;
    });
    dialog.querySelector('ul').replaceChildren(...rows);
  }
})();
