/* app.js - the frame: bar, pages by URL, keys, and what is said when the server is gone or asks who is there. */

import { connection, session, signOut } from './api.js';
import { fill, h, icon } from './dom.js';
import { attempt, failure, toast } from './parts/notice.js';
import { openHelp } from './parts/help.js';
import { switchTheme } from './parts/palette.js';
import { here, kindOf, link, onChange, pageLink, visit } from './state.js';

/**
 * A page's module exports `title` and open(host, place), which gives `update(place)` for a new place on the same page
 * (of the same trace), `refresh()` to ask the server again, `close()`, and perhaps `escape()` for the Esc key and
 * `key(event)` for keys of its own, which says whether it was one.  A page is one line here and one module.
 */
const PAGES = [
    { name: 'traces', label: 'Traces', key: 't', load: () => import('./pages/traces.js') },
    { name: 'overview', label: 'Overview', key: 'o', ofTrace: true, load: () => import('./pages/overview.js') },
    { name: 'timeline', label: 'Timeline', key: 'i', ofTrace: true, load: () => import('./pages/timeline.js') },
    { name: 'findings', label: 'Findings', key: 'd', ofTrace: true, load: () => import('./pages/findings.js') },
    { name: 'layer', label: 'Breakdown', key: 'l', ofTrace: true, load: () => import('./pages/layer.js') },
    { name: 'flat', label: 'Table', key: 'f', ofTrace: true, load: () => import('./pages/flat.js') },
    { name: 'overlap', label: 'I/O vs compute', key: 'v', ofTrace: true, load: () => import('./pages/overlap.js') },
    { name: 'flame', label: 'Flame graph', key: 'm', ofTrace: true, load: () => import('./pages/flame.js') },
    { name: 'steps', label: 'Steps', key: 'p', ofTrace: true, load: () => import('./pages/steps.js') },
    { name: 'whatif', label: 'What if', key: 'w', ofTrace: true, load: () => import('./pages/whatif.js') },
    {
        name: 'tasks',
        label: 'Tasks',
        key: 'k',
        ofTrace: true,
        ofKind: 'dasf',
        load: () => import('./pages/tasks.js'),
    },
    { name: 'query', label: 'Query', key: 'q', ofTrace: true, load: () => import('./pages/query.js') },
    { name: 'compare', label: 'Compare', key: 'c', load: () => import('./pages/compare.js') },
    {
        name: 'presets',
        label: 'Presets',
        key: 'e',
        ofTrace: true,
        aside: true /* reached from the head of a trace */,
        load: () => import('./pages/presets.js'),
    },
    { name: 'jobs', label: 'Jobs', key: 'j', load: () => import('./pages/jobs.js') },
    { name: 'report', label: 'Trace quality', key: 'r', ofTrace: true, load: () => import('./pages/report.js') },
];

/* Names of pages as the menu shows them, for addresses that are typed: `?page=breakdown`. */
const ALIASES = { breakdown: 'layer', table: 'flat', 'io-vs-compute': 'overlap', quality: 'report' };

const host = h('main', { id: 'main', tabindex: -1, 'aria-busy': 'true' }); /* until the page stands */
const who = h('span', { class: 'who' });
const nav = h('nav', { class: 'pages', 'aria-label': 'Pages' });
const banner = h('div', { class: 'banner', role: 'alert', hidden: true });
let current = /** @type {any} */ (null),
    signingIn = false;

function pageOf(place) {
    const name = ALIASES[place.page] ?? place.page;
    const wanted = PAGES.find((page) => page.name === name) ?? PAGES[0];
    return wanted.ofTrace && !place.trace ? PAGES[0] : wanted;
}

function addressOf(page, place) {
    if (page === PAGES[0]) return link({}, {});
    if (page.name === 'jobs') return link({ page: 'jobs', trace: place.trace }, {});
    if (page.ofTrace) return pageLink(page.name, {}, place);
    return pageLink(page.name, { layer: null, traces: place.traces ?? place.trace, baseline: place.baseline }, place);
}

async function render(place) {
    if (signingIn) return;
    const page = pageOf(place);
    const identity = `${page.name} ${page.ofTrace ? place.trace : ''}`;
    drawNav(page, place);
    if (current?.identity === identity) {
        current.view?.update(place);
        return;
    }
    scrollNav();
    current?.view?.close();
    current = { identity, view: null };
    const mine = current;
    host.setAttribute('aria-busy', 'true');
    const module = await page.load().catch(() => null);
    if (mine !== current) return;
    host.removeAttribute('aria-busy');
    if (!module) {
        fill(
            host,
            failure(new Error('This page could not be loaded; the server may have been updated.'), () =>
                location.reload(),
            ),
        );
        return;
    }
    document.title = `${module.title} \u00b7 Strata`;
    mine.view = module.open(host, here());
    window.scrollTo(0, 0);
}

/** A comparison has the pages of its first run beside it. */
function withTrace(place) {
    const first = place.traces?.split(',')[0];
    return place.trace || !first ? place : { ...place, trace: first };
}

function drawNav(active, there) {
    const place = withTrace(there);
    const offered = PAGES.filter(
        (page) =>
            (!page.ofTrace || place.trace) &&
            (!page.aside || page === active) &&
            (!page.ofKind || page === active || page.ofKind === kindOf(place.trace)),
    );
    fill(
        nav,
        offered.map((page) =>
            h('a', { href: addressOf(page, place), 'aria-current': page === active ? 'page' : null }, page.label),
        ),
    );
}

/** Scrolls to the page that is open where the menu is too narrow for all.  Reading its position costs a layout. */
function scrollNav() {
    const at = /** @type {HTMLElement} */ (nav.querySelector('[aria-current]'));
    const { left, right } = at?.getBoundingClientRect() ?? { left: 0, right: 0 },
        bounds = nav.getBoundingClientRect();
    nav.scrollLeft = at && (left < bounds.left || right > bounds.right) ? at.offsetLeft - nav.offsetLeft - 8 : 0;
}

async function signIn() {
    if (signingIn) return;
    signingIn = true;
    current?.view?.close();
    current = null;
    fill(nav);
    fill(who);
    const { open } = await import('./pages/signin.js');
    host.removeAttribute('aria-busy');
    open(host, () => {
        signingIn = false;
        begin();
    });
}

/** Fetches the session first, so that users who must sign in are not shown refusals. */
async function begin() {
    pageOf(here())
        .load()
        .catch(() => {}); /* its scripts come meanwhile; render() says it if they do not */
    const {
        sign_in_needed: needed,
        name,
        role,
    } = await session().catch(() => ({ sign_in_needed: false, name: null, role: null }));
    if (needed && !role) {
        signIn();
        return;
    }
    fill(
        who,
        needed && [
            h('span', { title: `Role: ${role}` }, name),
            h('button', { class: 'button small', onclick: leave }, 'Sign out'),
        ],
    );
    render(here());
}

async function leave() {
    await attempt(signOut);
    begin();
}

function drawFrame() {
    const bar = h(
        'header',
        { class: 'top' },
        h('a', { class: 'skip', href: '#main' }, 'Skip to content'),
        h('a', { class: 'brand', href: link({}, {}) }, icon('trace'), 'Strata'),
        nav,
        h(
            'div',
            { class: 'top-tools' },
            who,
            h(
                'button',
                {
                    class: 'button icon-only',
                    'aria-label': 'Light or dark',
                    title: 'Light or dark',
                    onclick: switchTheme,
                },
                icon('theme'),
            ),
            h(
                'button',
                {
                    class: 'button icon-only',
                    'aria-label': 'Help',
                    title: 'Keys and help (?)',
                    onclick: () => openHelp(PAGES),
                },
                icon('help'),
            ),
        ),
    );
    document.body.append(bar, banner, host);
}

function onConnection() {
    connection.addEventListener('lost', () => {
        fill(banner, 'The connection to the server is lost. Trying again\u2026');
        banner.hidden = false;
    });
    connection.addEventListener('back', () => {
        banner.hidden = true;
        current?.view?.refresh();
    });
    connection.addEventListener('signin', signIn);
}

/** Links inside the dashboard change the place without loading anything. */
function onClick(event) {
    const anchor = event.target.closest('a[href^="?"]');
    if (!anchor || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    visit(anchor.getAttribute('href'));
}

/** Shows errors that no page caught, since users do not look at the console. */
function onFault(fault) {
    if (!fault || fault.name === 'AbortError' || /ResizeObserver/.test(fault.message ?? '')) return;
    toast(`Something in this page went wrong: ${fault.message ?? fault}. Loading it anew may help.`, 'bad');
}

let leader = false;

/** `/` filter, `g` and a letter for pages, `?` help, Esc: the page's own. */
function onKey(event) {
    const typing = event.target.closest('input, select, textarea, [contenteditable]');
    if (event.key === 'Escape' && typing && event.target.id === 'filter') event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    const second = leader;
    leader = false;
    if (!second && current?.view?.key?.(event)) event.preventDefault();
    else if (event.key === 'Escape' && !document.querySelector('[popover]:popover-open')) current?.view?.escape?.();
    else if (event.key === '/') {
        event.preventDefault();
        document.getElementById('filter')?.focus();
    } else if (event.key === '?') openHelp(PAGES);
    else if (second) goByKey(event.key);
    else leader = event.key === 'g';
}

function goByKey(key) {
    const place = withTrace(here());
    const page = PAGES.find((one) => one.key === key && (!one.ofTrace || place.trace));
    if (page) visit(addressOf(page, place));
}

drawFrame();
onConnection();
document.addEventListener('click', onClick);
document.addEventListener('keydown', onKey);
window.addEventListener('error', ({ error }) => onFault(error));
window.addEventListener('unhandledrejection', ({ reason }) => onFault(reason));
onChange(render);
begin();
