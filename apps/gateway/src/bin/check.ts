// `svc-gateway check [<file>]`: what these settings would do, and the problems with them. Changes nothing and makes no
// connection.

import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { Settings, Variables } from '@svc/service/program/config'
import { checkConfig } from '../config.ts'
import { RENAMED_SETTINGS } from '../renamed-settings.ts'
import { SETTINGS } from '../settings.ts'
import { describeConfig } from './describe-config.ts'

export const USAGE = 'usage: svc-gateway check [<file with NAME=value lines>]; without a file, the environment'

const UNUSABLE = 1
const WRONG_USE = 2

export async function run(args: string[]): Promise<void> {
  if (args.length > 1) {
    console.error(USAGE)
    process.exitCode = WRONG_USE
    return
  }
  const [file] = args
  const variables = file === undefined ? process.env : readFile(file)
  if (!variables) return
  const { config, secrets, problems } = checkConfig(variables)
  console.log(describeConfig({ config, secrets, variables }))
  const unread = file === undefined ? [] : unreadNames(variables, SETTINGS)
  if (unread.length > 0) console.log(`\nnot settings of the gateway (ignored): ${unread.join(', ')}`)
  if (problems.length === 0) {
    console.log('\nno problems: the gateway can start with these settings')
    return
  }
  console.log(
    `\nthe gateway cannot start with these problems:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
  )
  process.exitCode = UNUSABLE
}

function readFile(file: string): Variables | null {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    console.error(`svc-gateway check: ${(error as Error).message}`)
    process.exitCode = UNUSABLE
    return null
  }
}

/** Includes misspelled names. */
function unreadNames(variables: Variables, settings: Settings): string[] {
  const isRead = (name: string) =>
    name in settings || name in RENAMED_SETTINGS || settings[name.replace(/_FILE$/, '')]?.isSecret
  return Object.keys(variables).filter((name) => !isRead(name))
}
