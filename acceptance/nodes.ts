// The Nodes of this machine: commands of documents and packages run with each of them on the PATH.

import { execFileSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

const PATH = process.env.PATH ?? ''

/** Without the folders that npm puts first, which contain Node 24: a reader has the machine's own Node. */
const PATH_OF_READERS = PATH.split(delimiter)
  .filter((entry) => !entry.endsWith('node_modules/.bin'))
  .join(delimiter)

/** The PATH of each, by version: the one that runs the tests, and the machine's own. */
export const NODES: ReadonlyMap<string, string> = new Map(
  [`${dirname(process.execPath)}${delimiter}${PATH_OF_READERS}`, PATH_OF_READERS].map((path) => [
    execFileSync('node', ['--version'], { encoding: 'utf8', env: { PATH: path } }).trim(),
    path,
  ]),
)
