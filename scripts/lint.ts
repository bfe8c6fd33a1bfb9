// Lints files that have changed since they last passed. Biome has no cache, and its rules about promises take a minute
// for all files. Such a rule may find a problem in an unchanged file; a fresh clone has no cache and lints everything.
// With `--changed`, only files that differ from the upstream branch are linted.

import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

const CACHE = 'node_modules/.cache/svc'
const CLEAN_FILES = `${CACHE}/linted.json`
/** With more files, the command line gets long, and linting everything is as fast. */
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

/** Files that are uncommitted or not yet in the upstream branch. */
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

/** The files of the repository without ignored ones, and the hash of each. */
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
