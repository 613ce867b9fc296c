/* query_examples.js - queries that are asked often, to begin with. */

/**
 * @param {number} width  seconds of a bin that suits what is shown
 * @returns {{name: string, place: Object<string, string>}[]}
 */
export const examples = (width) => [
    {
        name: 'Time by function',
        place: {
            group: 'func_name',
            agg: 'time = sum(time), calls = count(), mean = mean(time), longest = max(time), bytes = sum(size)',
            order: '-time',
        },
    },
    {
        name: 'Bytes per file',
        place: {
            group: 'file_name',
            agg: 'bytes = sum(size), time = sum(time), calls = count(), processes = nunique(proc_name)',
            having: 'bytes > 0',
            order: '-bytes',
        },
    },
    {
        name: 'Bandwidth over time',
        place: {
            group: `interval = bin(time_start, ${width})`,
            agg: 'bandwidth = sum(size) / busy(), bytes = sum(size), calls = count()',
            show: 'chart',
        },
    },
    {
        name: 'Calls over time by category',
        place: {
            group: `interval = bin(time_start, ${width}), cat`,
            agg: 'calls = count(), time = sum(time)',
            show: 'chart',
        },
    },
    {
        name: 'Slowest I/O calls',
        place: {
            filter: 'cat.str.contains("posix|stdio")',
            ask: 'events',
            columns: 'func_name, time, time_start, pid, tid, size, file_name',
            order: '-time',
        },
    },
    {
        name: 'Tail latencies',
        place: {
            group: 'func_name',
            agg: 'calls = count(), median = median(time), p95 = quantile(time, 0.95), p99 = quantile(time, 0.99), longest = max(time)',
            having: 'calls >= 10',
            order: '-p99',
        },
    },
    {
        name: 'Statistics by function',
        place: {
            group: 'func_name',
            agg: 'time = sum(time), calls = count(), mean = mean(time), deviation = std(time), shortest = min(time), longest = max(time)',
            order: '-time',
        },
    },
    {
        name: 'Sizes by function',
        place: {
            group: 'func_name',
            agg: 'transfers = count(size), least = min(size), lower = quantile(size, 0.25), median = median(size), mean = mean(size), upper = quantile(size, 0.75), most = max(size)',
            having: 'transfers > 0',
            order: '-transfers',
        },
    },
    {
        name: 'Transfer size over time',
        place: {
            group: `interval = bin(time_start, ${width})`,
            agg: 'mean = mean(size), transfers = count(size)',
            show: 'chart',
        },
    },
    { name: 'Transfer sizes', place: { group: 'size', agg: 'calls = count(), time = sum(time)', order: '-calls' } },
    {
        name: 'Balance of processes',
        place: {
            group: 'pid, host_name',
            agg: 'busy = busy(), time = sum(time), calls = count(), bytes = sum(size)',
            order: '-busy',
        },
    },
    {
        name: 'Bytes per directory',
        place: {
            derive: 'directory = dirname(file_name)',
            group: 'directory',
            agg: 'bytes = sum(size), files = nunique(file_name), calls = count()',
            order: '-bytes',
        },
    },
];
