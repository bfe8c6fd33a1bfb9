import { stat } from 'node:fs/promises'
import { Failure } from '../failures.ts'
import { safePath } from './safe-path.ts'
import { hashOfFile } from './unchanged.ts'

export interface GetOptions {
  /** The folder that files go to. */
  out: string
  overwrite?: boolean
}

/** Whether a file is on disk with just these bytes. Throws where others are in the way. */
export async function isOnDisk(name: string, hash: string | null, { out, overwrite }: GetOptions): Promise<boolean> {
  const path = await safePath(out, name)
  const facts = await stat(path).catch(() => null)
  if (!facts) return false
  if (facts.isFile() && (await hashOfFile(path)) === hash) return true
  if (overwrite && facts.isFile()) return false
  throw new Failure(`${path} is there with other bytes; --overwrite replaces it`)
}
