/* early.js - what has to happen before anything is painted (a classic script, so it blocks; before the stylesheets,
 * for which it would wait): light or dark as chosen with the switch; and the scripts of the page that the address
 * names are fetched beside those of the frame, which would ask for them one after the other. */
try {
    const theme = localStorage.getItem('theme');
    if (theme) document.documentElement.dataset.theme = theme;
} catch {
    /* storage is off: the system's choice stays */
}

const scripts = new Map(Object.entries(JSON.parse(document.getElementById('scripts')?.textContent ?? '{}')));
for (const href of scripts.get(new URLSearchParams(location.search).get('page') ?? 'traces') ?? [])
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
