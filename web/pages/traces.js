/* traces.js - every registered trace: what it is, how its ingest goes, and what can be done with it. */

import { ended, get, send, session } from '../api.js';
import { fill, h, icon, refill } from '../dom.js';
import { grouped, moment, text } from '../format.js';
import { asked, confirmed } from '../parts/dialog.js';
import { isReady } from '../parts/compare_runs.js';
import { copyMenu, copyText, curlToken } from '../parts/copy.js';
import { findFolders, foundCard } from '../parts/found.js';
import { folderDialog, startAdding } from '../parts/folders.js';
import { jobProgress } from '../parts/job.js';
import { liveBadge } from '../parts/live.js';
import { menu } from '../parts/menu.js';
import { attempt, empty, failure, toast, waiting } from '../parts/notice.js';
import { sorted, table } from '../parts/table.js';
import { go, here, link } from '../state.js';

export const title = 'Traces';

const POLL_MS = 2500;
const STREAMS = 2; /* a browser keeps only six connections to one server */

const COLUMNS = [
    { key: 'name', label: 'Name', class: 'head', cell: nameCell },
    { key: 'state', label: 'State', cell: stateCell },
    { key: 'events', label: 'Events', unit: 'count' },
    { key: 'bytes', label: 'Size', unit: 'B', title: 'Of the trace files' },
    { key: 'job_time', label: 'Span', unit: 's', title: 'From the first event to the end of the last' },
    { key: 'start', label: 'Started', cell: (trace) => h('span', { class: 'when' }, moment(trace.start)) },
    { key: 'hosts', label: 'Hosts', unit: 'count' },
    { key: 'processes', label: 'Processes', unit: 'count' },
    {
        key: 'problems',
        label: 'Problems',
        unit: 'count',
        title: 'Malformed lines; truncated, rejected, vanished and stale files',
        cell: problemsCell,
    },
    {
        key: 'preset',
        label: 'Preset',
        get: (trace) => trace.preset?.name,
        cell: (trace) => h('span', { title: trace.preset?.why }, trace.preset?.name ?? '\u2013'),
    },
];

/**
 * @param {HTMLElement} host
 * @param {Object} place
 */
export function open(host, place) {
    const list = h('div', { class: 'traces' });
    const search = h('input', {
        id: 'filter',
        type: 'search',
        class: 'search',
        placeholder: 'Name, tag or path',
        'aria-label': 'Filter traces',
        value: place.q ?? '',
        oninput: () => go({ q: search.value }, { replace: true }),
    });
    const tools = h('div', { class: 'card-tools' }, search);
    const watched = new Map();
    const fresh = new Set();
    let traces = null,
        found = [],
        looked = null,
        editor = false,
        shown = '',
        now = place,
        dialog = null,
        timer = 0,
        closed = false;

    fill(host, h('header', { class: 'page-head row' }, h('h1', {}, 'Traces'), tools), list);
    fill(list, waiting({ what: 'Reading the list of traces', height: 240 }));
    load();
    update(place);

    async function load() {
        clearTimeout(timer);
        try {
            editor = (await session()).role !== 'viewer';
            ({ traces } = await get('traces'));
            if (!closed) show();
            look();
        } catch (problem) {
            if (!closed && !traces) fill(list, failure(problem, load));
        }
        if (!closed) timer = setTimeout(load, POLL_MS);
    }

    /** Looks again when a trace has come or gone. */
    async function look() {
        const known = traces.map(({ id }) => id).join();
        if (!editor || known === looked) return;
        looked = known;
        found = await findFolders().catch(() => []);
        if (!closed) show();
    }

    /** Adds a folder that was found. */
    async function addFound(path) {
        const answer = await attempt(() => send('POST', 'traces', { path }));
        if (answer) added(answer.trace, answer.job);
    }

    function added(trace, job) {
        fresh.add(trace.id);
        toast(job ? `Reading ${trace.name}` : `${trace.name} was there already`);
        load();
    }

    function update(next) {
        now = next;
        if (document.activeElement !== search) search.value = now.q ?? '';
        if (now.add !== undefined) (dialog ??= openFolders()).show(now.add);
        else dialog?.close();
        if (traces) show();
    }

    function openFolders() {
        return folderDialog({
            onAdded: added,
            onClose() {
                dialog = null;
                if (here().add !== undefined) go({ add: null });
            },
        });
    }

    /** Draws anew only when something changed and nothing is pressed, so that focus, open menus and clicks stay. */
    function show() {
        follow();
        const picture = JSON.stringify([traces, now.q, now.sort, now.pick, editor, found]);
        if (picture === shown || list.querySelector(':active, :popover-open')) return;
        shown = picture;
        const ticked = tickedIn(now).filter((id) => traces.some((trace) => trace.id === id));
        refill(
            tools,
            search,
            ticked.length > 0 && compareLink(ticked),
            editor && h('button', { class: 'button primary', onclick: startAdding }, icon('plus'), 'Add a trace'),
            copyMenu('traces', {}, null),
        );
        if (traces.length === 0) {
            fill(list, noTraces(editor), found.length > 0 && foundCard(found, addFound));
            return;
        }
        const columns = editor
            ? [...COLUMNS, { key: 'actions', label: '', class: 'actions', sortable: false, cell: actionsCell }]
            : COLUMNS;
        const rows = inOrder(
            traces.filter((trace) => matches(trace, now.q)),
            now.sort,
        );
        refill(
            list,
            h(
                'div',
                { class: 'card flush scroll-x' },
                table({
                    columns,
                    rows,
                    caption: 'Traces',
                    sort: now.sort,
                    onSort: (sort) => go({ sort }),
                    class: 'cards',
                    decorate,
                }),
                rows.length === 0 &&
                    h('p', { class: 'hint padded' }, `No trace's name, tags or path contains \u201c${now.q}\u201d.`),
            ),
            found.length > 0 && foundCard(found, addFound),
        );
    }

    function decorate(trace, element) {
        if (fresh.delete(trace.id)) element.classList.add('fresh');
        const progress = watched.get(trace.job);
        const problem = trace.failure;
        if (!progress && !problem) return;
        element.cells[0].append(progress ? progress.element : h('p', { class: 'bad-text' }, problem));
    }

    /** Watches the running jobs; the list itself shows those that wait. */
    function follow() {
        for (const { job } of traces) {
            if (!job || watched.has(job) || watched.size >= STREAMS) continue;
            watched.set(job, jobProgress(job, { onEnd: (view) => finish(job, view) }));
        }
    }

    function finish(job, view) {
        watched.get(job)?.close();
        watched.delete(job);
        const trace = traces.find((one) => one.job === job);
        if (trace && ended(view)) {
            if (view.state === 'done') toast(`${trace.name} is ready: ${grouped(view.events)} events`);
            if (view.state === 'failed') toast(`${trace.name}: ${view.error?.detail ?? 'ingest failed'}`, 'bad');
            fresh.add(trace.id);
        }
        load();
    }

    function actionsCell(trace) {
        return menu({
            label: `Actions for ${trace.name}`,
            icon: 'more',
            items: [
                {
                    text: 'Refresh',
                    icon: 'refresh',
                    action: () => act(() => send('POST', `traces/${trace.id}/refresh`)),
                },
                trace.live
                    ? {
                          text: 'Stop following',
                          icon: 'close',
                          action: () => act(() => send('PATCH', `traces/${trace.id}`, { follow: false })),
                      }
                    : {
                          text: 'Follow',
                          icon: 'open',
                          action: () => act(() => send('PATCH', `traces/${trace.id}`, { follow: true })),
                      },
                { text: 'Rename and tag', icon: 'edit', action: () => rename(trace) },
                { text: 'Delete', icon: 'trash', danger: true, action: () => remove(trace) },
            ],
        });
    }

    async function act(action) {
        await attempt(action);
        load();
    }

    async function rename(trace) {
        const values = await asked({
            title: 'Rename and tag',
            action: 'Save',
            fields: [
                { name: 'name', label: 'Name', value: trace.name },
                { name: 'tags', label: 'Tags', value: (trace.tags ?? []).join(', '), hint: 'Separated by commas' },
            ],
        });
        if (!values) return;
        const tags = values.tags
            .split(',')
            .map((tag) => tag.trim())
            .filter(Boolean);
        act(() => send('PATCH', `traces/${trace.id}`, { name: values.name.trim(), tags }));
    }

    async function remove(trace) {
        const sure = await confirmed({
            title: `Delete ${trace.name}?`,
            action: 'Delete',
            body: [
                h(
                    'p',
                    {},
                    'Strata forgets this trace and frees ',
                    h('strong', {}, text(trace.store_bytes, 'B')),
                    ' of its store.',
                ),
                h('p', {}, 'The trace files themselves stay where they are: ', h('code', {}, trace.path)),
            ],
        });
        if (sure) act(() => send('DELETE', `traces/${trace.id}`));
    }

    return {
        update,
        refresh: load,
        close() {
            closed = true;
            clearTimeout(timer);
            dialog?.close();
            for (const progress of watched.values()) progress.close();
        },
    };
}

/** A trace is ticked to be compared. */
function tick(trace) {
    const ticked = tickedIn(here());
    const change = () =>
        go(
            {
                pick: (ticked.includes(trace.id)
                    ? ticked.filter((id) => id !== trace.id)
                    : [...ticked, trace.id]
                ).join(','),
            },
            { replace: true },
        );
    return (
        isReady(trace) &&
        h('input', {
            type: 'checkbox',
            checked: ticked.includes(trace.id),
            'aria-label': `Compare ${trace.name}`,
            title: 'Tick to compare',
            onchange: change,
        })
    );
}

function tickedIn(place) {
    return (place.pick ?? '').split(',').filter(Boolean);
}

function compareLink(ids) {
    return h(
        'a',
        {
            class: `button${ids.length > 1 ? ' primary' : ''}`,
            href: link({ page: 'compare', traces: ids.join(',') }, {}),
        },
        ids.length > 1 ? `Compare ${ids.length} runs` : 'Compare with\u2026',
    );
}

function stateCell(trace) {
    return [h('span', { class: `badge ${trace.state}` }, trace.state), trace.live && liveBadge(trace)];
}

function nameCell(trace) {
    return h(
        'div',
        { class: 'trace-name' },
        tick(trace),
        h('a', { href: link({ page: 'overview', trace: trace.id }, {}) }, trace.name),
        (trace.tags ?? []).map((tag) => h('span', { class: 'tag' }, tag)),
        h('div', { class: 'path', title: trace.path }, trace.path),
    );
}

function problemsCell(trace) {
    if (trace.problems === null || trace.problems === undefined) return '\u2013';
    return h('span', { class: trace.problems > 0 ? 'bad-text' : 'quiet' }, grouped(trace.problems));
}

/** By a column, else the latest registered first. */
function inOrder(traces, sort) {
    return sort ? sorted(traces, COLUMNS, sort) : traces.reverse();
}

function matches(trace, words) {
    if (!words) return true;
    return [trace.name, trace.path, ...(trace.tags ?? [])].some((text) =>
        text.toLowerCase().includes(words.toLowerCase()),
    );
}

function noTraces(editor) {
    const curl = `curl ${curlToken()}-X POST ${location.origin}/api/v1/traces -H 'Content-Type: application/json' -d '{"path": "/path/to/run"}'`;
    return empty(
        'No traces yet',
        h(
            'p',
            {},
            'A trace is the folder of .pfw or .pfw.gz files that DFTracer or DLIO wrote during a run, or of the records of a Dask computation that DASF wrote.',
        ),
        editor && [
            h('p', {}, h('button', { class: 'button primary', onclick: startAdding }, icon('plus'), 'Add a trace')),
            h('p', {}, 'or from a terminal'),
        ],
        h(
            'div',
            { class: 'snippet' },
            h('code', {}, curl),
            h(
                'button',
                {
                    class: 'button small icon-only',
                    'aria-label': 'Copy',
                    title: 'Copy',
                    onclick: () => copyText(curl, 'the command'),
                },
                icon('copy'),
            ),
        ),
    );
}
