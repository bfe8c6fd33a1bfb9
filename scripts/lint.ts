// Lints the files that changed since they were last found good. Biome keeps no cache of its own, and its rules about
// promises take a minute for all files. Such a rule may find something in a file that did not change: a fresh clone,
// which has no cache, looks at everything, unless it is run with `--changed`: then at what differs from the branch that
// changes are merged into.

import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

const CACHE = 'node_modules/.cache/svc'
const CLEAN_FILES = `${CACHE}/linted.json`
/** Above this, the command line gets long and a run over everything is as quick. */
const MAX_FILES = 500

if (process.argv.includes('--changed')) {
  await lint(filesOfChange())
} else {
  const clean = readClean()
  const files = listFiles()
  const changed = Object.keys(files).filter((file) => clean[file] !== files[file])
  await lint(changed)
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(CLEAN_FILES, JSON.stringify(files))
}

/** Files that are not committed, or not yet in the branch that changes are merged into. */
function filesOfChange(): string[] {
  const base = git('merge-base', 'HEAD', upstream())[0] ?? 'HEAD'
  const names = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
  return names.filter(existsSync)
}

function upstream(): string {
  return git('for-each-ref', '--format=%(refname)', 'refs/remotes/origin/HEAD', 'refs/heads/main')[0] ?? 'HEAD'
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
  const names = git('ls-files', '--cached', '--others', '--exclude-standard').filter(existsSync)
  return Object.fromEntries(names.map((name) => [name, createHash('sha256').update(readFileSync(name)).digest('hex')]))
}

function git(...args: string[]): string[] {
  const lines = execFileSync('git', ['-c', 'core.quotePath=false', ...args], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line !== '')
}

async function lint(changed: string[]): Promise<void> {
  if (changed.length === 0) return
  const areMany = changed.length > MAX_FILES || changed.includes('biome.json') || changed.includes('package-lock.json')
  const args = ['check', '--no-errors-on-unmatched', '--files-ignore-unknown=true', ...(areMany ? ['.'] : changed)]
  try {
    await promisify(execFile)('biome', args)
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string }
    console.error(`${stdout ?? ''}${stderr ?? error}`)
    process.exit(1)
  }
}
