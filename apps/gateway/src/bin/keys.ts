// `svc-gateway keys list | new | rotate | retire | revoke`: the keys that sign statements. See docs/operations.md.

import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { toHex } from '@svc/protocol/bytes'
import { unixSeconds } from '@svc/protocol/evidence'
import { ed25519PublicKeyFromHex, ed25519Signer } from '@svc/protocol/keys'
import { parseKeySeed } from '@svc/service/program/keys'
import type { Context } from '../context.ts'
import { type KeySigner, openSigner } from '../keys/signers/signer.ts'
import { listSigningKeys } from '../keys/signing-keys.ts'
import { announceKey } from '../views/admin/keys/announce-key.ts'
import { retireKey } from '../views/admin/keys/retire-key.ts'
import { revokeKey } from '../views/admin/keys/revoke-key.ts'
import { rotateKey } from '../views/admin/keys/rotate-key.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

export const USAGE = `usage: svc-gateway keys list
       svc-gateway keys new (--out FILE | --public-key HEX) [--start TIME] --reason WHY
       svc-gateway keys new --recovery --out FILE
       svc-gateway keys rotate [--early] [--unendorsed] --reason WHY
       svc-gateway keys retire KEY_ID --reason WHY
       svc-gateway keys revoke KEY_ID --since TIME [--recovery-key FILE] --reason WHY
TIME is like 2026-06-12T08:00:00Z`

const OPTIONS = {
  out: { type: 'string' },
  'public-key': { type: 'string' },
  start: { type: 'string' },
  recovery: { type: 'boolean', default: false },
  early: { type: 'boolean', default: false },
  unendorsed: { type: 'boolean', default: false },
  since: { type: 'string' },
  'recovery-key': { type: 'string' },
  reason: { type: 'string' },
} as const

const COULD_NOT_RUN = 1

export async function run(args: string[]): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
    const [verb = 'list', keyId] = positionals
    // A recovery key belongs on an offline machine, which has no gateway.
    if (verb === 'new' && values.recovery) return newRecoveryKey(required(values.out, '--out'))
    await withOperations(async (context, actor) => {
      if (verb === 'list') return list(context)
      const reason = requireReason(values.reason)
      if (verb === 'new') {
        const start = values.start === undefined ? context.now() / 1000 + DAY : timeOf(values.start)
        const { publicKeyHex, discard } = await newKey(values)
        const announced = announceKey(context, actor, { publicKeyHex, start: Math.floor(start), reason })
        const key = await announced.catch((error) => discard(error))
        printJson(key)
        return console.error(afterAnnouncement(key, values.out))
      }
      if (verb === 'rotate') {
        const { early, unendorsed } = values
        printJson(await rotateKey(context, actor, { reason, early, unendorsed }))
        return console.error(AFTER_ROTATION)
      }
      if (keyId === undefined) throw new Error(USAGE)
      if (verb === 'retire') return printJson(await retireKey(context, actor, keyId, reason))
      if (verb !== 'revoke') throw new Error(USAGE)
      const since = timeOf(required(values.since, '--since'))
      const recovery = values['recovery-key'] === undefined ? null : recoveryKey(values['recovery-key'])
      printJson(await revokeKey(context, actor, { keyId, since, reason, recovery }))
    })
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = COULD_NOT_RUN
  }
}

/** From an announcement to the first use: enough time to inform clients that pin keys. */
const DAY = 86_400

async function list(context: Context): Promise<void> {
  const { keys, next = [], recovery } = await listSigningKeys(context)
  const rows = [
    ...next.map(({ key_id, public_key_hex, valid_from }) => ['next', key_id, `from ${valid_from}`, public_key_hex]),
    ...keys
      .filter(({ use }) => use === 'receipt')
      .map(({ key_id, public_key_hex, status, valid_from, valid_to, revoked_since }) => {
        const period = `${valid_from} to ${valid_to ?? 'now'}`
        return [revoked_since ? 'revoked' : status, key_id, period, public_key_hex]
      }),
    ...(recovery ? [['recovery', recovery.key_id, '', recovery.public_key_hex]] : []),
  ]
  if (rows.length === 0) console.log('No key has signed yet, and none is announced.')
  for (const row of rows) {
    const isHere = context.statementKeys.signerOf(row[3] ?? '') ? '  (here)' : ''
    console.log(row.filter((cell) => cell !== '').join('  ') + isHere)
  }
}

interface NewKey {
  publicKeyHex: string
  discard(error: unknown): never
}

async function newKey(values: { out?: string; 'public-key'?: string }): Promise<NewKey> {
  const given = values['public-key']?.toLowerCase()
  if ((given === undefined) === (values.out === undefined)) throw new Error(USAGE)
  if (given !== undefined) {
    if (!ed25519PublicKeyFromHex(given)) throw new Error('--public-key is not an Ed25519 public key: 64 hex characters')
    return { publicKeyHex: given, discard: rethrow }
  }
  const file = values.out as string // one of the two options is set
  const publicKeyHex = writeKey(file)
  return {
    publicKeyHex,
    discard(error) {
      console.error(`${file} contains a new key that was not announced. You can delete it.`)
      return rethrow(error)
    },
  }
}

function rethrow(error: unknown): never {
  throw error
}

/** Never overwrites a file. */
function writeKey(file: string): string {
  const seed = randomBytes(32)
  try {
    writeFileSync(file, `${toHex(seed)}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(code === 'EEXIST' ? `${file} already exists, and keys are never overwritten` : message)
  }
  return toHex(ed25519Signer(seed).publicKey)
}

function newRecoveryKey(file: string): void {
  console.log(`RECOVERY_PUBLIC_KEY=${writeKey(file)}`)
  console.error(`${file} contains the recovery key. Keep it offline, not on a machine of the gateway.
Next: set RECOVERY_PUBLIC_KEY as above for all replicas, and restart them before customers pin your keys.
If a statement key is stolen: svc-gateway keys revoke KEY_ID --since TIME --recovery-key ${file} --reason WHY`)
}

/** The next steps, on standard error: standard output is JSON. */
function afterAnnouncement(
  { public_key_hex, valid_from }: { public_key_hex: string; valid_from: string },
  file?: string,
) {
  const setting =
    file === undefined
      ? `STATEMENT_KEY_NEXT=<address of its signer>#public=${public_key_hex}`
      : `STATEMENT_KEY_NEXT_FILE=${resolve(file)}`
  return `Next: set ${setting} for all replicas, and restart them one by one.
From ${valid_from} on: svc-gateway keys rotate --reason WHY, once, on any replica.`
}

const AFTER_ROTATION = `All replicas sign with the new key from now on.
Next: at the next restart of each replica set STATEMENT_KEY (or STATEMENT_KEY_FILE) to the new key, without
STATEMENT_KEY_NEXT. Then delete the old key.`

function recoveryKey(file: string): KeySigner {
  const seed = parseKeySeed(readFileSync(file, 'utf8'))
  if (!seed) throw new Error(`${file} does not contain a key`)
  return openSigner({ seed })
}

function timeOf(text: string): number {
  const seconds = unixSeconds(text)
  if (seconds === null) throw new Error(`"${text}" is not a time like 2026-06-12T08:00:00Z`)
  return seconds
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`${name} is missing\n${USAGE}`)
  return value
}
