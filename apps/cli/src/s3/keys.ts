// `svc s3 keys`: made, listed and revoked by the owner.

import { timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs, table } from '../output/table.ts'
import type { Session } from '../session.ts'
import { keySetup } from './setup.ts'

export interface NewKeyOptions {
  days: number
  readOnly?: true
  prefix?: string
}

export async function newKey(session: Session, name: string, options: NewKeyOptions): Promise<void> {
  const { output, world } = session
  const { days, readOnly, prefix } = options
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const key = await client.createS3Key(locker, {
    name,
    days,
    access: readOnly ? 'read' : 'write',
    ...(prefix !== undefined && { prefix }),
    signal: world.signal,
  })
  output.result(key, () =>
    pairs([
      ['access key id', key.access_key_id],
      ['secret access key', key.secret_access_key],
      ['endpoint', key.endpoint],
      ['region', key.region],
      ['bucket', key.bucket],
      ['works until', timeText(shown(key.expires_at))],
    ]),
  )
  output.note(`The secret is not shown again.\n\n${keySetup(key)}`)
}

export async function listKeys(session: Session): Promise<void> {
  const { output, world } = session
  const locker = await session.locker()
  const keys = await (await session.lockerClient(locker)).s3Keys(locker, world.signal)
  if (output.isJson) {
    for (const key of keys) output.result(key, () => '')
    return
  }
  if (keys.length === 0) return output.note('None: `svc s3 keys new NAME` makes one.')
  output.result(keys, () => {
    const columns = ['ID', 'NAME', 'ACCESS', 'FOLDER', 'UNTIL', 'LAST USED'].map((title) => ({ title }))
    const rows = keys.map(({ access_key_id, name, access, prefix, expires_at, last_used_at }) =>
      [access_key_id, name, access, prefix || '-', timeText(expires_at), timeText(last_used_at)].map(shown),
    )
    return table(columns, rows)
  })
}

export async function revokeKey(session: Session, accessKeyId: string): Promise<void> {
  const { output, world } = session
  const locker = await session.locker()
  await (await session.lockerClient(locker)).revokeS3Key(locker, accessKeyId, world.signal)
  output.result({ locker_id: locker.locker_id, revoked: accessKeyId }, () => `${shown(accessKeyId)} no longer works`)
}
