// `node make-bundle.ts <program> <folder>`: the program with all it imports as few files of JavaScript.

import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { type Bundle, newestBundle, ROOT, stateOf } from './bundle.ts'

/** Left where they are: packages with native code, that read files of their own, or that few gateways load. */
const EXTERNAL = [
  /\.node$/,
  /^litesvm$/,
  /^@nomicfoundation\/edr$/,
  /^@google-cloud\//,
  /^@grpc\//,
  /^mongodb$/,
  /^bson$/,
  /^pg(-.*)?$/,
  /^prom-client$/,
]

/** npm writes it whenever it installs or removes a package. */
const INSTALLED = `${ROOT}node_modules/.package-lock.json`
const BUNDLER = ['./bundle.ts', './make-bundle.ts'].map((file) => fileURLToPath(new URL(file, import.meta.url)))

/** A process that still runs a bundle that was replaced may load more of it, or be replaced itself. */
const KEEP_MS = 7 * 86_400_000

/**
 * Files beside a module, such as threads and pages, are found where its source is. Lines of packages have no origin:
 * they would be most of the map, which takes memory once it is read.
 */
const keepPlaces: Plugin = {
  name: 'keep-places',
  transform(code, id) {
    const isOwn = !id.includes('/node_modules/')
    if (isOwn && !code.includes('import.meta.url')) return null
    const placed = code.replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(id).href))
    if (isOwn) return { code: placed, map: sameLines(placed, id) }
    const isCommonJs = /\b__(dirname|filename)\b/.test(code) && !/\b(const|let|var) __(dirname|filename)\b/.test(code)
    const places = `var __filename = ${JSON.stringify(id)}, __dirname = ${JSON.stringify(dirname(id))};`
    return { code: isCommonJs ? places + placed : placed, map: { mappings: '' } }
  },
}

/** Before the file is read: one that changes meanwhile makes the bundle stale, never wrong. */
const noteInputs: Plugin = {
  name: 'note-inputs',
  load(id) {
    if (id.startsWith('/') && !id.includes('/node_modules/')) inputs[id] = stateOf(id)
    return null
  },
}

const [program = '', home = ''] = process.argv.slice(2)
mkdirSync(home, { recursive: true })
removeOld(home)
const folder = mkdtempSync(`${home}/bundle-`)
const inputs = Object.fromEntries([INSTALLED, ...BUNDLER, ...manifests()].map((file) => [file, stateOf(file)]))
await bundle(program, folder)
const newest: Bundle = { entry: `${folder}/program.mjs`, inputs }
writeFileSync(`${folder}/newest.json`, JSON.stringify(newest))
renameSync(`${folder}/newest.json`, `${home}/newest.json`)

async function bundle(input: string, dir: string): Promise<void> {
  const build = await rolldown({
    input: { program: input },
    platform: 'node',
    external: EXTERNAL,
    plugins: [noteInputs, keepPlaces],
    onLog: () => {},
  })
  await build.write({
    dir,
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
}

/** They say which file an import of a workspace means. */
function manifests(): string[] {
  const root = `${ROOT}package.json`
  const { workspaces } = JSON.parse(readFileSync(root, 'utf8')) as { workspaces: string[] } // npm checks it
  return [root, ...globSync(workspaces.map((workspace) => `${ROOT}${workspace}/package.json`))]
}

/** A source map where each line is its own origin. */
function sameLines(code: string, source: string) {
  const mappings = `AAAA${';AACA'.repeat(code.split('\n').length - 1)}`
  return { version: 3, sources: [source], names: [], mappings }
}

function removeOld(home: string): void {
  const now = new Date()
  const replaced = newestBundle(home)?.entry
  if (replaced && existsSync(replaced)) utimesSync(dirname(replaced), now, now)
  for (const name of readdirSync(home)) {
    const path = `${home}/${name}`
    if (Date.now() - statSync(path).mtimeMs > KEEP_MS) rmSync(path, { recursive: true, force: true })
  }
}
