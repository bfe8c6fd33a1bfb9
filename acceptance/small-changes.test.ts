// Makes the changes of CONTRIBUTING.md, "A change is small", in a copy of the repository: only in the files that its
// lists name. Then runs the checks that must pass.

import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SMALL_CHANGES } from './small-changes.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const copy = mkdtempSync(join(tmpdir(), 'svc-small-'))
afterAll(() => rmSync(copy, { recursive: true }))

/** The files that `npm run docs` writes. */
const GENERATED = ['.env.example', 'apps/agent/.env.example', 'docs/gateway.md', 'packages/sdk/README.md']
/** Generated files that git does not store and tests read. */
const MADE = 'vectors/bundles'
const nightly = { tags: ['nightly'] }

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))

beforeAll(() => {
  for (const file of files) cpSync(join(ROOT, file), join(copy, file), { recursive: true })
  for (const folder of globSync('{.,packages/*,apps/*,scripts/*}/node_modules', { cwd: ROOT })) linkModules(folder)
  symlinkSync(join(ROOT, MADE), join(copy, MADE))
  for (const { edits } of SMALL_CHANGES) {
    for (const [file, edit] of Object.entries(edits)) {
      const path = join(copy, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, edit(existsSync(path) ? readFileSync(path, 'utf8') : ''))
    }
  }
})

/** Links the packages of others; our own packages are those of the copy. */
function linkModules(folder: string): void {
  mkdirSync(join(copy, folder), { recursive: true })
  for (const name of readdirSync(join(ROOT, folder))) {
    if (name === '.cache') continue
    if (name !== '@svc') symlinkSync(join(ROOT, folder, name), join(copy, folder, name))
    else {
      mkdirSync(join(copy, folder, name))
      for (const own of readdirSync(join(ROOT, folder, name)))
        symlinkSync(readlinkSync(join(ROOT, folder, name, own)), join(copy, folder, name, own))
    }
  }
}

/** The files of the list below this heading, with its open names filled in. */
function placesOf(heading: string, names: Readonly<Record<string, string>>): string[] {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  const section = page.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) =>
    path.replace(/<(\w+)>/g, (open, name: string) => names[name] ?? open),
  )
}

async function runInCopy(program: string, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await startProcess(pathToFileURL(join(copy, program)), { args, cwd: copy }).ended
  expect(code, `${program} ${args.join(' ')}\n${stdout.slice(-10_000)}${stderr.slice(-10_000)}`).toBe(0)
}

it.each(SMALL_CHANGES)(
  '$heading changes exactly the files that CONTRIBUTING.md lists',
  nightly,
  ({ heading, names, edits }) => {
    expect(Object.keys(edits).sort()).toEqual(placesOf(heading, names).sort())
  },
)

it('only the generated documents change with these changes', nightly, async () => {
  await runInCopy('scripts/asset-docs.ts')
  const changed = files.filter((file) => !readFileSync(join(ROOT, file)).equals(readFileSync(join(copy, file))))
  const edited = SMALL_CHANGES.flatMap(({ edits }) => Object.keys(edits)).filter((file) => files.includes(file))
  expect(changed.sort()).toEqual([...new Set([...edited, ...GENERATED])].sort())
  const settings = readFileSync(join(copy, '.env.example'), 'utf8')
  for (const line of [
    /^UNIT_PRICES_USD=.*,depot=0\.2$/m,
    /^DEPOT=$/m,
    /^OPTIMISM_RPC_URLS=$/m,
    /^MAX_FOLDER_DEPTH=20$/m,
  ])
    expect(settings).toMatch(line)
})

it('types and arrows are valid after these changes', nightly, async () => {
  await runInCopy('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json')
  for (const script of ['arrows', 'writes']) await runInCopy(`scripts/${script}.ts`)
  await runInCopy('scripts/spec.ts', '--check')
})

it('the tests of these changes, and of everything of their kind, pass', nightly, async () => {
  const tests = [...new Set(SMALL_CHANGES.flatMap((change) => change.tests))]
  await runInCopy('node_modules/vitest/vitest.mjs', 'run', '--project', 'node', '--tags-filter=!nightly', ...tests)
})
