// `svc shares`: the shares of a locker.

import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { counted, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  const shares = program.command('shares').description('the shares of the locker, and when each was last used')
  shares
    .command('ls', { isDefault: true })
    .description('list them, as `svc shares` alone does')
    .action(async (_: object, command: Command) => list(await open(command)))
  shares
    .command('end')
    .description('end shares immediately')
    .argument('<share...>', 'ids or addresses of shares', idOf)
    .action(async (ids: string[], _: object, command: Command) => end(await open(command), ids))
}

async function list(session: Session): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const shares = await (await session.lockerClient(locker)).shares(locker, host.signal)
  if (output.isJson) {
    for (const share of shares) output.result(share, () => '')
    return
  }
  if (shares.length === 0) return output.note('No shares: `svc share PATH` makes one.')
  output.result(shares, () => {
    const columns = ['OPENS', 'LABEL', 'UNTIL', 'LAST USED', 'ADDRESS'].map((title) => ({ title }))
    const rows = shares.map(({ path, label, expires_at, last_used_at, url }) =>
      [path, label ?? '-', expires_at === null ? 'never' : timeText(expires_at), timeText(last_used_at), url].map(
        shown,
      ),
    )
    return table(columns, rows)
  })
  output.note(
    '`svc shares end ADDRESS` ends one, `svc revoke` all of them. `svc access` lists everything that opens it.',
  )
}

async function end(session: Session, ids: readonly string[]): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  for (const id of ids) await client.endShare(locker, id, host.signal)
  output.result({ locker_id: locker.locker_id, ended: ids }, () => `${counted(ids.length, 'share')} ended`)
}

/** `previous` are the ids before it. */
function idOf(text: string, previous: string[] | undefined): string[] {
  const [, id] = /(?:^|\/s\/)([A-Za-z0-9_-]{22})$/.exec(text) ?? []
  if (id === undefined) throw new UsageError(`${shown(text)} is not the id or the address of a share`)
  return [...(previous ?? []), id]
}
