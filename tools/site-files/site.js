// Search and theme of the documentation. The index is a script beside the pages, loaded when it is first wanted: pages of a folder may not fetch.
(() => {
  const root = document.documentElement, up = root.dataset.root ?? '', input = document.querySelector('.search input'), found = document.querySelector('.found');
  const remember = (theme) => { try { localStorage.setItem('sarrus-theme', theme); } catch { /* not remembered */ } };
  try { const theme = localStorage.getItem('sarrus-theme'); if (theme) root.dataset.theme = theme; } catch { /* as the system has it */ }
  document.querySelector('.theme').addEventListener('click', () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    remember(root.dataset.theme);
  });

  let index = null, loading = false, at = 0;
  function load() {
    if (index || loading) return;
    loading = true;
    const script = document.createElement('script');
    script.src = `${up}index.js`;
    script.addEventListener('load', () => {
      index = window.sarrusIndex;
      index.low = index.sections.map(([page, heading, , words]) => [index.pages[page][1].toLowerCase(), heading.toLowerCase(), words.toLowerCase()]);
      search();
    });
    document.head.append(script);
  }

  // Every word must be in the section; in titles and headings it counts most.
  function score(texts, words) {
    let sum = 0;
    for (const word of words) {
      const [title, heading, body] = texts.map((text) => text.indexOf(word));
      if (title < 0 && heading < 0 && body < 0) return 0;
      sum += (heading === 0 ? 12 : heading > 0 ? 8 : 0) + (title >= 0 ? 5 : 0) + (body >= 0 ? 1 + Math.min(3, texts[2].split(word).length / 3) : 0) + (texts[1] === word ? 6 : 0);
    }
    return sum;
  }

  function excerpt(text, words) {
    const low = text.toLowerCase(), first = Math.min(...words.map((w) => low.indexOf(w)).filter((i) => i >= 0), text.length);
    return `${first > 40 ? '…' : ''}${text.slice(Math.max(0, first - 40), first + 120)}`;
  }

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0 || !index;
    if (found.hidden) return;
    const best = index.low.map((texts, i) => [score(texts, words), i]).filter((x) => x[0] > 0).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 20);
    at = 0;
    found.replaceChildren(...best.map(([, i], k) => {
      const [page, heading, id, text] = index.sections[i], link = document.createElement('a'), name = document.createElement('b'), part = document.createElement('span');
      link.href = `${up}${index.pages[page][0]}#${id}`;
      link.setAttribute('role', 'option');
      link.setAttribute('aria-selected', String(k === 0));
      name.textContent = heading === index.pages[page][1] ? heading : `${index.pages[page][1]} · ${heading}`;
      part.textContent = excerpt(text, words);
      link.append(name, part);
      return link;
    }));
    if (best.length === 0) {
      const none = document.createElement('p');
      none.textContent = 'Nothing has these words.';
      found.append(none);
    }
  }

  input.addEventListener('focus', load);
  input.addEventListener('input', () => { load(); search(); });
  input.addEventListener('keydown', (event) => {
    const links = [...found.querySelectorAll('a')];
    if (event.key === 'Escape') { found.hidden = true; input.blur(); return; }
    if (event.key === 'Enter' && links[at]) { links[at].click(); found.hidden = true; return; }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    at = Math.min(links.length - 1, Math.max(0, at + (event.key === 'ArrowDown' ? 1 : -1)));
    links.forEach((link, k) => link.setAttribute('aria-selected', String(k === at)));
    links[at]?.scrollIntoView({ block: 'nearest' });
    event.preventDefault();
  });
  document.addEventListener('click', (event) => { if (!event.target.closest('.search')) found.hidden = true; });
  document.addEventListener('keydown', (event) => { if (event.key === '/' && event.target !== input) { event.preventDefault(); input.focus(); } });
})();
