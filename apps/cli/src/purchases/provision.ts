import { lockerName, namedTags, nameObjection } from '@svc/sdk'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { operatorOption, tagOption } from '../options.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { termsText } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'
import { isReceiptId, knownLockers, rememberLocker } from '../setup/known-lockers.ts'
import { unusedName } from '../setup/locker-names.ts'
import { requireProvisionable } from './order.ts'

interface ProvisionOptions {
  name?: string
  tag?: string[]
  operator?: string
}

export function add(program: Command, open: Open): void {
  program
    .command('provision')
    .description('open the locker of a receipt; `svc buy` does this automatically')
    .argument('<receipt>', 'rcpt_…')
    .option('--name <name>', 'name of the locker; by default the name of the purchase')
    .addOption(tagOption())
    .addOption(operatorOption())
    .action(async (receipt: string, options: ProvisionOptions, command: Command) =>
      provision(await open(command), receipt, options),
    )
}

async function provision(session: Session, receiptId: string, options: ProvisionOptions): Promise<void> {
  const { output, host, gateway, folder } = session
  if (!isReceiptId(receiptId)) throw new UsageError(`${JSON.stringify(receiptId)} is not a receipt id`)
  requireProvisionable(options)
  const all = await knownLockers(folder)
  const known = all.find((locker) => locker.receipt_id === receiptId && locker.gateway === gateway)
  const given = options.name ?? known?.name ?? null
  const tags = namedTags(options.tag, given)
  const { operator } = options
  const wanted = { ...(tags && { tags }), ...(operator && { operator }), signal: host.signal }
  const client = await session.client(await session.keyFor(known?.owner ?? null))
  const { manifest, locker_id, receipt_id } = await client.provision(receiptId, wanted)
  const { owner } = manifest
  const boughtAs = lockerName(manifest.tags) ?? ''
  const name = given ?? (nameObjection(boughtAs) === null ? unusedName(boughtAs, all, gateway) : null)
  const added_at = new Date(host.now()).toISOString()
  await rememberLocker(folder, { receipt_id, locker_id, gateway, owner, name, added_at })
  output.result(manifest, () =>
    pairs([
      ['locker', name === null ? locker_id : `${locker_id} (${name})`],
      ['was', manifest.already_provisioned ? 'open already' : 'opened now'],
      ['terms', shown(termsText(manifest.terms))],
      ['until', shown(manifest.expires_at)],
    ]),
  )
}
