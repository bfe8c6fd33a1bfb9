// Lints the files that changed since they were last found good. Biome keeps no cache of its own, and its rules about
// promises take a minute for all files. Such a rule may find something in a file that did not change: a fresh clone,
// which has no cache, looks at everything.

import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

const CACHE = 'node_modules/.cache/svc'
const CLEAN_FILES = `${CACHE}/linted.json`
/** Above this, the command line gets long and a run over everything is as quick. */
const MAX_FILES = 500

const clean = readClean()
const files = listFiles()
const changed = Object.keys(files).filter((file) => clean[file] !== files[file])
if (changed.length > 0) {
  const areMany = changed.length > MAX_FILES || changed.includes('biome.json') || changed.includes('package-lock.json')
  await run(areMany ? ['.'] : changed)
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(CLEAN_FILES, JSON.stringify(files))
}

function readClean(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(CLEAN_FILES, 'utf8'))
  } catch {
    return {}
  }
}

/** The files of the repository, ignored ones left out, and the hash of each. */
function listFiles(): Record<string, string> {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
  const names = list.split('\0').filter((name) => name !== '' && existsSync(name))
  return Object.fromEntries(names.map((name) => [name, createHash('sha256').update(readFileSync(name)).digest('hex')]))
}

async function run(paths: string[]): Promise<void> {
  const args = ['check', '--no-errors-on-unmatched', '--files-ignore-unknown=true', ...paths]
  try {
    await promisify(execFile)('biome', args)
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    console.error(`${stdout ?? ''}${stderr ?? error}`)
    process.exit(1)
  }
}
