// The lockers that this machine knows: a file for each, so that commands running side by side cannot undo each other.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readJson, writeJson } from './folder.ts'

export interface KnownLocker {
  receipt_id: string
  locker_id: string
  gateway: string
  /** Null where somebody else told us of the locker. */
  owner: string | null
  name: string | null
  added_at: string
}

export function isReceiptId(text: string): boolean {
  return /^rcpt_[0-9a-f]{32}$/.test(text)
}

export async function rememberLocker(folder: string, locker: KnownLocker): Promise<void> {
  await writeJson(fileOf(folder, locker.receipt_id), locker)
}

/** Says whether it was there. */
export async function forgetLocker(folder: string, receiptId: string): Promise<boolean> {
  const isKnown = (await readJson(fileOf(folder, receiptId))) !== null
  await rm(fileOf(folder, receiptId), { force: true })
  return isKnown
}

/** Oldest first. */
export async function knownLockers(folder: string): Promise<KnownLocker[]> {
  const names = await readdir(join(folder, 'lockers')).catch(() => [])
  const ids = names.map((name) => name.replace(/\.json$/, '')).filter(isReceiptId)
  const lockers = await Promise.all(ids.map((id) => readJson<KnownLocker>(fileOf(folder, id))))
  return lockers.filter((locker) => locker !== null).sort((a, b) => (a.added_at < b.added_at ? -1 : 1))
}

function fileOf(folder: string, receiptId: string): string {
  return join(folder, 'lockers', `${receiptId}.json`)
}
