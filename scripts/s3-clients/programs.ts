// The clients' programs, from this machine or from Debian.

import { spawnSync } from 'node:child_process'

export interface Program {
  /** Of the command, too. */
  name: string
  /** Debian's. */
  package: string
  /** Prints the version, and succeeds only if the program is there. */
  version: readonly [command: string, ...args: string[]]
}

/** Null when the program is there, else why it is not. */
export function install(program: Program): string | null {
  if (isThere(program)) return null
  if (process.getuid?.() !== 0 || spawnSync('which', ['apt-get']).status !== 0) return 'it is not installed'
  console.log(`Installing ${program.package}…`)
  const apt = (...args: string[]) => spawnSync('apt-get', args, { encoding: 'utf8' })
  apt('update', '-qq')
  const { status, stderr } = apt('install', '-y', '-qq', '--no-install-recommends', program.package)
  if (status === 0 && isThere(program)) return null
  return `Debian's ${program.package} cannot be had (${stderr.trim().split('\n').at(-1)})`
}

function isThere({ version: [command, ...args] }: Program): boolean {
  return spawnSync(command, args).status === 0
}

export function versionOf({ version: [command, ...args] }: Program): string {
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' })
  return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim()
}
