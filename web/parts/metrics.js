/* metrics.js - what the columns of layered tables are called, what they mean and how they are written. */

/* exact.md section 2. */
const EXACT = {
    count: ['Events', 'Number of events'],
    time: ['Call time', 'Sum of the durations of all events'],
    size: ['Size', 'Bytes read and written'],
    bw: ['Bandwidth per call', 'Size over time: what one call got'],
    ops: ['Calls/s', 'Events per second of call time'],
    busy: ['Wall time', 'Length of the union of all events'],
    bw_busy: ['Bandwidth', 'Size over wall time: what the job got while it was transferring'],
    busy_process_min: ['Wall time, least', 'Of the process where it is shortest'],
    busy_process_mean: ['Wall time, mean', 'Of a process'],
    busy_process_max: ['Wall time, most', 'Of the process where it is longest'],
    busy_process_sum: ['Wall time, summed', 'Of each process, added up'],
    busy_group_sum: ['Wall time of ranks', 'Of each rank with its workers, added up'],
    exposed_group_sum: [
        'Not overlapped',
        'Wall time during which the same rank was not computing, added up over ranks',
    ],
    exposed_group_max: [
        'Not overlapped, most',
        'Wall time during which the rank was not computing, of the rank where that is longest',
    ],
    hidden_share: ['Overlapped', 'Part of the wall time that overlapped with compute of the same rank'],
    self_group_sum: ['Self', 'Wall time during which none of its children ran, added up over ranks'],
    processes: ['Processes', 'Distinct processes'],
    threads: ['Threads', 'Distinct threads'],
    hosts: ['Hosts', 'Distinct hosts'],
    files: ['Files', 'Distinct files'],
};

const BINS = [
    '0_4kib',
    '4kib_16kib',
    '16kib_64kib',
    '64kib_256kib',
    '256kib_1mib',
    '1mib_4mib',
    '4mib_16mib',
    '16mib_64mib',
    '64mib_256mib',
    '256mib_1gib',
    '1gib_4gib',
    '4gib_plus',
];

/** The size bins in order: their columns and what they hold, in words and below an axis. */
export const SIZE_BINS = BINS.map((bin) => ({
    column: `size_bin_${bin}`,
    label: binLabel(bin),
    tick: binLabel(bin)
        .replace(/.* \u2013 /, '\u2264 ')
        .replace('\u202f', '\n'),
}));

function binLabel(bin) {
    const size = (words) =>
        words.replace(/(\d+)([kmg])ib/, (_, number, power) => `${number}\u202f${power.toUpperCase()}iB`);
    const [from, to] = bin.split('_');
    if (to === 'plus') return `> ${size(from)}`;
    return from === '0' ? `\u2264 ${size(to)}` : `${size(from)} \u2013 ${size(to)}`;
}

/** Scores 0 .. 5 in words. */
export const SCORES = ['trivial', 'trivial', 'low', 'medium', 'high', 'critical'];

/**
 * How a column looks in a table.
 * @param {string} name  of a layer view's column
 * @param {Object<string, string>} units  as the answer has them
 * @param {boolean} compatible  the columns of DFAnalyzer keep their names
 * @returns {import('./table.js').Column}
 */
export function metricColumn(name, units, compatible) {
    const unit = unitOf(name, units);
    if (compatible) return { key: name, label: name, unit, title: compatibleTitle(name) };
    const bin = SIZE_BINS.find(({ column }) => name === column);
    if (bin) return { key: name, label: bin.label, unit, title: `Events whose size is ${bin.label}` };
    /* a dash where calls have no bytes */
    const get = unit === 'B' ? (row) => row[name] || null : undefined;
    if (EXACT[name]) return { key: name, label: EXACT[name][0], unit, title: EXACT[name][1], get };
    const [, metric, base] = /^(.+)_(count|time|size|busy|bw)$/.exec(name) ?? [];
    return {
        key: name,
        label: base ? `${metric}: ${EXACT[base][0].toLowerCase()}` : name,
        unit,
        get,
        title: base ? `${EXACT[base][1]}, of the events called ${metric}` : name,
    };
}

/** @returns {string} a key of UNITS */
export function unitOf(name, units) {
    if (units[name] in { s: 1, B: 1, 'B/s': 1 }) return units[name];
    if (/(^|_)(share|per|pct|util)$/.test(name)) return 'share';
    if (/(^|_)ops(_(sum|min|max|mean|std))?$/.test(name)) return '1/s';
    if (
        /count(_sum|_min|_max)?$|nunique$|size_bin_|^(processes|threads|hosts|files)$|_(processes|threads|hosts|files)$|score$/.test(
            name,
        )
    )
        return 'count';
    return 'number';
}

const STATISTICS = {
    sum: 'Sum over processes',
    min: 'Least of the processes',
    max: 'Most of the processes',
    mean: 'Mean of the processes',
    std: 'Standard deviation over the processes',
    nunique: 'Number of different ones',
    per: 'Share of the total of all rows',
    slope: 'Share of the time over share of the calls',
    pct: 'Rank of the slope among the rows',
    score: '0 or 1 trivial .. 5 critical',
    util: 'Share of the time of app',
};

function compatibleTitle(name) {
    const what = STATISTICS[/[a-z]+$/.exec(name)?.[0]];
    return what ? `${name}: ${what.toLowerCase()}` : name;
}
