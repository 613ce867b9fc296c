/* types.mjs - the types that the dashboard's comments state, checked by the TypeScript compiler. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

async function typesHold() {
    const compiler = path.join(process.env.STRATA_BUILD, 'tests/browser/node_modules/typescript/bin/tsc');
    const project = path.join(import.meta.dirname, 'tsconfig.json');
    const complaints = await promisify(execFile)(process.execPath, [compiler, '-p', project]).then(
        () => '',
        ({ stdout, stderr }) => stdout + stderr,
    );
    assert.equal(complaints, '');
}

export const tests = [{ name: 'types: what the comments say holds', body: typesHold }];
