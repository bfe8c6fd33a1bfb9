// Each process writes the last nonce that it accepted to a file beside the journal. The file survives a crash of the
// process; it may not survive a power cut. A database that lacks this nonce was set back, and may have lost others,
// too.

import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { filesIn } from '@svc/database/journal/folder'
import type { NonceTable } from '@svc/service/guard/tables'
import type { Db } from '../db/schema.ts'

const NONCE = '.nonce'
/** All of one length, so that each overwrites the previous one. */
const CHARACTERS = 240
const DAY_MS = 86_400_000

export interface LastNonce {
  save(nonce: NonceTable): void
  close(): void
}

export async function openLastNonce(folder: string): Promise<LastNonce> {
  for (const { name: other, touchedMs } of await filesIn(folder, NONCE))
    if (Date.now() - touchedMs > DAY_MS) await rm(join(folder, other), { force: true })
  const path = join(folder, `${process.pid}-${randomBytes(4).toString('hex')}${NONCE}`)
  const file = openSync(path, 'w', 0o600)
  let isEmpty = true
  return {
    save({ signer, nonce, forget_at }) {
      writeSync(file, `${signer} ${nonce} ${forget_at}`.padEnd(CHARACTERS - 1).concat('\n'), 0)
      isEmpty = false
    },
    close() {
      closeSync(file)
      if (isEmpty) rmSync(path, { force: true })
    },
  }
}

/** A nonce that has expired protects nothing any more. `now` in Unix seconds. */
export async function hasLostNonces(db: Db, folder: string, now: number): Promise<boolean> {
  for (const { name } of await filesIn(folder, NONCE)) {
    const nonce = readNonce(await readFile(join(folder, name), 'utf8').catch(() => ''))
    if (nonce && nonce.forget_at > now && !(await hasNonce(db, nonce))) return true
  }
  return false
}

function readNonce(text: string): NonceTable | null {
  const [signer, nonce, forgetAt] = text.trim().split(' ')
  if (!signer || !nonce || !/^\d+$/.test(forgetAt ?? '')) return null
  return { signer, nonce, forget_at: Number(forgetAt) }
}

async function hasNonce(db: Db, { signer, nonce }: NonceTable): Promise<boolean> {
  const row = db.selectFrom('nonces').select('nonce').where('signer', '=', signer).where('nonce', '=', nonce)
  return (await row.executeTakeFirst()) !== undefined
}
