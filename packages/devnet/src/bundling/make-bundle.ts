// `node make-bundle.ts <program>`: bundles the program and its imports into a few JavaScript files.

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
import { type Bundle, bundleFolder, newestBundle, ROOT, stateOf } from '@svc/service/program/bundle'
import type { Plugin } from 'rolldown'
import { writeBundle } from './bundler.ts'

/** npm writes it whenever it installs or removes a package. */
const INSTALLED = `${ROOT}node_modules/.package-lock.json`
const BUNDLER = ['./bundler.ts', './make-bundle.ts', '../../../service/src/program/bundle.ts'].map((file) =>
  fileURLToPath(new URL(file, import.meta.url)),
)

/** A process that still runs a replaced bundle may load more files of it. */
const KEEP_MS = 7 * 86_400_000

/** Records the state of each source before it is read: a change in between makes the bundle stale, never wrong. */
const recordInputs: Plugin = {
  name: 'record-inputs',
  load(id) {
    if (id.startsWith('/') && !id.includes('/node_modules/')) inputs[id] = stateOf(id)
    return null
  },
}

const [program = ''] = process.argv.slice(2)
const home = bundleFolder(program)
mkdirSync(home, { recursive: true })
removeOld(home)
const folder = mkdtempSync(`${home}/bundle-`)
const inputs = Object.fromEntries([INSTALLED, ...BUNDLER, ...manifests()].map((file) => [file, stateOf(file)]))
await writeBundle({
  input: { program },
  dir: folder,
  urlOf: (source) => JSON.stringify(pathToFileURL(source).href),
  pathOf: (source) => JSON.stringify(source),
  plugins: [recordInputs],
})
const newest: Bundle = { entry: `${folder}/program.mjs`, inputs }
writeFileSync(`${folder}/newest.json`, JSON.stringify(newest))
renameSync(`${folder}/newest.json`, `${home}/newest.json`)

/** Manifests decide which file an import of a workspace resolves to. */
function manifests(): string[] {
  const root = `${ROOT}package.json`
  const { workspaces } = JSON.parse(readFileSync(root, 'utf8')) as { workspaces: string[] } // npm checks it
  return [root, ...globSync(workspaces.map((workspace) => `${ROOT}${workspace}/package.json`))]
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
