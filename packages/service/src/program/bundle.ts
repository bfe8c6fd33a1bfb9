// Programs start from one bundled file instead of two thousand modules, which takes a quarter of the time. `npm start`
// and `npm test` create the bundles of a checkout, `npm run build:production` those of a production tree. Without a
// bundle, or after a change to its sources, a program runs from its sources.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { enableCompileCache, SourceMap } from 'node:module'
import { dirname, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
/** Beside the code, so that only users who can change the code can write to it. */
const CACHE = `${ROOT}node_modules/.cache/svc`

/** The newest bundle of a program, with all files that can change it. */
export interface Bundle {
  entry: string
  inputs: Record<string, FileState>
}
type FileState = [modifiedMs: number, bytes: number]

/** Like `import(program)`. */
export async function importBundled<Program>(program: URL): Promise<Program> {
  return importProgram(program, bundleOf(program))
}

/** The entry file of a program's bundle. Null when it must run from its sources. */
export function bundleOf(program: URL): string | null {
  const source = fileURLToPath(program)
  const built = `${ROOT}${builtFile(relative(ROOT, source))}`
  if (existsSync(built)) return built
  return freshBundle(bundleFolder(source))
}

/** The folder of a program's bundles in a checkout. */
export function bundleFolder(source: string): string {
  return `${CACHE}/bundles/${createHash('sha256').update(source).digest('hex').slice(0, 16)}`
}

/** The bundle of a program in a production tree. Both paths are relative to their root. */
export function builtFile(source: string): string {
  return `built/${source.replaceAll('/', '-').replace(/\.ts$/, '')}.mjs`
}

export async function importProgram<Program>(program: URL, entry: string | null): Promise<Program> {
  enableCompileCache(CACHE)
  if (entry !== null) showSources(dirname(entry))
  return import(entry === null ? program.href : pathToFileURL(entry).href)
}

function freshBundle(home: string): string | null {
  const newest = newestBundle(home)
  if (newest === null) return null
  const { entry, inputs } = newest
  try {
    const isFresh = Object.entries(inputs).every(([file, state]) => String(stateOf(file)) === String(state))
    return isFresh && existsSync(entry) ? entry : null
  } catch {
    return null // One of its sources is gone.
  }
}

export function newestBundle(home: string): Bundle | null {
  try {
    return JSON.parse(readFileSync(`${home}/newest.json`, 'utf8')) as Bundle // written by the bundler
  } catch {
    return null // There is none.
  }
}

export function stateOf(file: string): FileState {
  const { mtimeMs, size } = statSync(file)
  return [mtimeMs, size]
}

/**
 * Makes stack traces name the source files. Node can do this too, but reads all source maps at the start, which takes a
 * sixth of it.
 */
function showSources(folder: string): void {
  const maps = new Map<string, SourceMap | null>()
  function place(frame: NodeJS.CallSite): string {
    const file = frame.getFileName()
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
    if (!file?.startsWith(`file://${folder}/`) || !line || !column) return String(frame)
    const map = maps.get(file) ?? readMap(`${fileURLToPath(file)}.map`)
    maps.set(file, map)
    const origin = map?.findOrigin(line, column)
    if (!origin || !('fileName' in origin)) return String(frame)
    const source = new URL(origin.fileName, file).href
    return String(frame).replace(`${file}:${line}:${column}`, `${source}:${origin.lineNumber}:${origin.columnNumber}`)
  }
  Error.prepareStackTrace = (error, frames) =>
    [String(error), ...frames.map((frame) => `    at ${place(frame)}`)].join('\n')
}

function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null // The trace then names the bundle.
  }
}
