// Shared by the admin's commands: opens the modules of the gateway without its port and its workers, and names the
// person who runs the command.

import { userInfo } from 'node:os'
import { ServiceError } from '@svc/service/service-error'
import { readConfig } from '../config.ts'
import type { Context } from '../context.ts'
import { openTools } from '../open-tools.ts'
import type { Actor } from '../views/admin/actors.ts'
import { openModules } from '../wire.ts'

const FAILED = 1

/** The person who runs this has the database and the keys. The audit trail names their account on this machine. */
export async function withOperations(
  work: (context: Context, actor: Actor) => Promise<void>,
  { whileBehind = false, failure = FAILED } = {},
): Promise<void> {
  try {
    const { config, secrets } = readConfig(process.env)
    await using opened = new AsyncDisposableStack()
    // Errors are printed once, to standard error.
    const quiet = { ...config, log: { level: 'silent' as const } }
    const context = await openModules(await openTools(quiet, secrets, {}, opened), secrets)
    // Then commits to a database that is behind are refused.
    if (!whileBehind) await context.continuity.start()
    await work(context, { identity: `command line:${userInfo().username}` })
  } catch (error) {
    // The message is empty if several addresses were tried.
    console.error((error as Error).message || error)
    const hint = error instanceof ServiceError ? error.body('').hint : undefined
    if (hint) console.error(hint)
    process.exitCode = failure
  }
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

export function requireReason(reason: string | undefined): string {
  if (reason !== undefined && reason.trim().length >= 3) return reason
  throw new Error('--reason needs at least 3 characters; it is stored in the audit trail')
}
