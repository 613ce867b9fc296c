/* daemon.mjs - a stratad of one's own, on a free port, in a scratch folder. */

import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';

const { STRATAD, STRATA_BUILD, STRATA_GENERATE, STRATA_SHARED } = process.env;
const ENDED = ['done', 'failed', 'cancelled'];

/** Where a given trace lies. */
export function given(name) {
    return path.join(STRATA_SHARED, 'traces', name);
}

/** Where a folder of stored expectations lies that is a trace, too. */
export function golden(name) {
    return path.join(STRATA_SHARED, 'golden', name);
}

export class Daemon {
    /**
     * @param {{traces?: string[], token?: string, role?: string}} [options]  given traces to register; a token that is
     *   needed, and the role of its owner
     */
    static async start({ traces = [], token, role = 'editor' } = {}) {
        const daemon = new Daemon();
        daemon.folder = await mkdtemp(path.join(os.tmpdir(), 'strata-browser-'));
        daemon.arguments = [
            '--store',
            path.join(daemon.folder, 'store'),
            '--web',
            path.join(STRATA_BUILD, 'web/site'),
            '--root',
            path.join(STRATA_SHARED, 'traces'),
            '--root',
            daemon.folder,
        ];
        if (token) {
            const file = path.join(daemon.folder, 'tokens');
            await writeFile(file, `tester:${role}:${createHash('sha256').update(token).digest('hex')}\n`, {
                mode: 0o600,
            });
            daemon.arguments.push('--tokens', file);
        }
        await daemon.begin('127.0.0.1:0', traces.map(given));
        if (!token) await daemon.settled(traces.length);
        return daemon;
    }

    async begin(listen, traces = []) {
        this.process = spawn(STRATAD, ['--listen', listen, ...this.arguments, ...traces], {
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        this.log = '';
        this.process.stderr.on('data', (text) => {
            this.log += text;
        });
        const lines = readline.createInterface({ input: this.process.stdout });
        const line = await Promise.race([
            new Promise((resolve) => {
                lines.once('line', resolve);
            }),
            new Promise((_, reject) => {
                this.process.once('exit', (status) => reject(new Error(`stratad ended with ${status}: ${this.log}`)));
            }),
        ]);
        this.base = line.replace('listening on ', '');
    }

    /** Registers those files of a folder whose names begin so, from a copy below its own root; gives the trace. */
    async ingestCopy(source, prefix = '') {
        const folder = path.join(this.folder, path.basename(source));
        await mkdir(folder, { recursive: true });
        for (const name of await readdir(source))
            if (name.startsWith(prefix)) await cp(path.join(source, name), path.join(folder, name));
        return this.ingest(folder);
    }

    /** Reads a folder of these files. */
    async ingestFiles(name, files) {
        const folder = path.join(this.folder, name);
        await mkdir(folder, { recursive: true });
        for (const [file, content] of Object.entries(files)) await writeFile(path.join(folder, file), content);
        return this.ingest(folder);
    }

    /** Ends it, leaving its store, so that again() finds everything. */
    async end() {
        const over = new Promise((resolve) => {
            this.process.once('exit', resolve);
        });
        this.process.kill('SIGTERM');
        return over;
    }

    /** Starts it once more at the same address. */
    again() {
        return this.begin(new URL(this.base).host);
    }

    async stop() {
        const status = await this.end();
        await rm(this.folder, { recursive: true, force: true });
        if (status !== 0) throw new Error(`stratad ended with ${status}: ${this.log}`);
    }

    async call(method, where, body) {
        const response = await fetch(`${this.base}/api/v1/${where}`, {
            method,
            body: body && JSON.stringify(body),
            headers: body && { 'Content-Type': 'application/json' },
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${text}`);
        return text ? JSON.parse(text) : null;
    }

    get(where) {
        return this.call('GET', where);
    }

    async traces() {
        return (await this.get('traces')).traces;
    }

    async trace(name) {
        return (await this.traces()).find((trace) => trace.name === name);
    }

    /** Registers a folder and waits until it is read. */
    async ingest(folder) {
        const { trace, job } = await this.call('POST', 'traces', { path: folder });
        for (let now = job; now && !ENDED.includes(now.state); now = await this.get(`jobs/${job.id}`))
            await new Promise((resolve) => {
                setTimeout(resolve, 20);
            });
        return this.get(`traces/${trace.id}`);
    }

    /** Makes a trace of so many events, with these options of the generator, and reads it. */
    generated(events, options = []) {
        const folder = path.join(this.folder, `generated-${events}`);
        execFileSync(STRATA_GENERATE, ['--events', String(events), ...options, folder]);
        return this.ingest(folder);
    }

    /** Waits until so many traces are known and none is being read. */
    async settled(count) {
        for (;;) {
            const traces = await this.traces();
            if (traces.length >= count && traces.every((trace) => trace.state !== 'ingesting')) return traces;
            await new Promise((resolve) => {
                setTimeout(resolve, 50);
            });
        }
    }
}
