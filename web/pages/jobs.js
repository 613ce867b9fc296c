/* jobs.js - what the server is doing for everybody: ingests and long requests, and for admins its settings and
 * whose tokens there are. */

import { ended, get, send, session } from '../api.js';
import { fill, h } from '../dom.js';
import { moment } from '../format.js';
import { attempt, drawn, empty, failure, waiting } from '../parts/notice.js';
import { scrolling, table } from '../parts/table.js';
import { link } from '../state.js';

export const title = 'Jobs';

const LOOK_MS = 2000;

/* Kinds of jobs in words where their own name, without the signs of an address, says too little. */
const KINDS = {
    compact: 'Merge segments',
    timeline_keep: 'Lay out the timeline',
    hlm: 'High-level metrics',
    'views/main': 'Main view',
    'views/layer': 'Rows of a layer',
    'views/flat': 'Rows of all layers',
    timeseries: 'Time series',
    values: 'Values of a column',
    overlap_intervals: 'Intervals of overlap',
    access: 'Access patterns',
    calltree: 'Call tree',
    whatif: 'What if',
    align: 'Alignment of fetches',
};

function kindWords(kind) {
    const words = kind.replace(/[_/]/g, ' ');
    return KINDS[kind] ?? words[0].toUpperCase() + words.slice(1);
}

const STATES = { queued: 'waiting', running: 'running', done: 'done', failed: 'failed', cancelled: 'cancelled' };

const SETTINGS = {
    path: 'settings',
    title: 'Settings',
    note: 'in force; secrets left out',
    columns: [
        { key: 'name', label: 'Setting', class: 'head' },
        { key: 'value', label: 'Value', class: 'wide', cell: ({ value }) => h('code', {}, value || '\u2013') },
        { key: 'help', label: 'What it is', class: 'prose' },
    ],
};
const TOKENS = {
    path: 'tokens',
    title: 'Tokens',
    note: 'in force; a token itself is kept nowhere',
    columns: [
        { key: 'name', label: 'Name', class: 'head' },
        { key: 'role', label: 'Role' },
    ],
};

/** @param {HTMLElement} host */
export function open(host) {
    const jobs = h('section', { class: 'card', 'aria-label': 'Jobs' }),
        settings = h('section', { class: 'card', 'aria-label': 'Settings', hidden: true }),
        tokens = h('section', { class: 'card', 'aria-label': 'Tokens', hidden: true });
    let closed = false,
        timer = 0,
        role = /** @type {string|null} */ (null);
    fill(host, h('header', { class: 'page-head' }, h('h1', {}, 'Jobs')), jobs, tokens, settings);
    fill(jobs, waiting({ what: 'Reading the jobs', height: 240 }));
    begin();

    async function begin() {
        role = await session().then(
            (one) => one.role,
            () => 'viewer',
        );
        await look();
        if (role !== 'admin' || closed) return;
        showTable(tokens, TOKENS);
        showTable(settings, SETTINGS);
    }

    async function look() {
        clearTimeout(timer);
        try {
            const [{ jobs: list }, { traces }] = await Promise.all([get('jobs'), get('traces')]);
            if (closed) return;
            drawn(jobs, () => show(list, new Map(traces.map((trace) => [trace.id, trace.name]))));
        } catch (problem) {
            if (!closed) fill(jobs, failure(problem, look));
        }
        if (!closed) timer = setTimeout(look, LOOK_MS);
    }

    /** Those under way first, the others as they ended, the latest first. */
    function show(list, names) {
        const rows = [...list].sort((a, b) => Number(ended(a)) - Number(ended(b)));
        if (rows.length === 0) {
            fill(jobs, empty('No jobs', h('p', {}, 'Ingests and queries that take long stand here.')));
            return;
        }
        const focused = document.activeElement?.id;
        fill(jobs, scrolling('Jobs', table({ caption: 'Jobs', rows, columns: columnsOf(names), class: 'cards' })));
        if (focused) document.getElementById(focused)?.focus();
    }

    function columnsOf(names) {
        const left = (job) => (job.state === 'running' && job.eta > 0 ? job.eta : null);
        return [
            { key: 'kind', label: 'Job', class: 'head', cell: (job) => kindWords(job.kind) },
            {
                key: 'trace',
                label: 'Trace',
                cell: (job) =>
                    names.has(job.trace)
                        ? h('a', { href: link({ page: 'overview', trace: job.trace }, {}) }, names.get(job.trace))
                        : '\u2013',
            },
            {
                key: 'state',
                label: 'State',
                cell: (job) => [STATES[job.state], !ended(job) && job.phase && `, ${job.phase}`],
            },
            { key: 'progress', label: 'Done', unit: 'share' },
            { key: 'left', label: 'Time left', unit: 's', get: left },
            { key: 'started', label: 'Since', class: 'wide', cell: (job) => moment(job.started ?? job.queued) },
            { key: 'why', label: 'Why', class: 'wide', cell: (job) => job.error?.detail ?? job.note ?? '' },
            { key: 'cancel', label: 'Action', class: 'actions', cell: cancelButton },
        ];
    }

    function cancelButton(job) {
        if (ended(job) || role === 'viewer') return '';
        const cancel = async () => {
            await attempt(() => send('DELETE', `jobs/${job.id}`));
            look();
        };
        return h('button', { class: 'button small', id: `cancel-${job.id}`, onclick: cancel }, 'Cancel');
    }

    /** A table that admins may see; without rows there is nothing to say. */
    async function showTable(box, { path, title, note, columns }) {
        try {
            const rows = (await get(path))[path];
            box.hidden = closed || rows.length === 0;
            fill(
                box,
                h('header', { class: 'card-head' }, h('h2', {}, title), h('small', {}, note)),
                scrolling(title, table({ caption: title, rows, columns, class: 'cards' })),
            );
        } catch (problem) {
            box.hidden = false;
            fill(
                box,
                failure(problem, () => showTable(box, { path, title, note, columns })),
            );
        }
    }

    return {
        update() {},
        refresh: look,
        close() {
            closed = true;
            clearTimeout(timer);
        },
    };
}
