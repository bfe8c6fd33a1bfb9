import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Command } from 'commander'
import { NotVerified } from '../errors.ts'
import { lockerArgument } from '../options.ts'
import { networkText } from '../output/networks.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { explorerPairs } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'
import { isOnLocalChains } from '../setup/read-once.ts'

interface ReceiptOptions {
  payment?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('receipt')
    .description('the receipt of a locker, with its signature checked; --json prints it for later verification')
    .addArgument(lockerArgument())
    .option('--payment', 'also have the gateway check the payment on chain')
    .action(async (locker: string | undefined, options: ReceiptOptions, command: Command) =>
      receipt(await open(command), locker, options),
    )
}

async function receipt(session: Session, wanted: string | undefined, options: ReceiptOptions): Promise<void> {
  const { output, host } = session
  const { receipt_id } = await session.locker(wanted)
  const client = await session.client()
  const signed = await client.receipt(receipt_id)
  const isLocal = await isOnLocalChains(session)
  output.result(signed, () => receiptText(signed, { gateway: session.gateway, isLocal }))
  if (!options.payment) return
  const { matching, differing } = await client.checkPayment(receipt_id, host.signal)
  if (differing.length > 0) throw new NotVerified(`the chain differs from the receipt: ${differing.join(', ')}`)
  output.note(`The chain matches the receipt: ${matching.join(', ')}.`)
}

function receiptText(receipt: SignedReceipt, { gateway, isLocal }: { gateway: string; isLocal: boolean }): string {
  const { paid_amount, pay_asset, network, units, receipt_signer_pubkey } = receipt
  return pairs([
    ['receipt', receipt.receipt_id],
    [
      'paid',
      shown(`${paid_amount} ${pay_asset} on ${networkText(network, { isLocal })} for ${counted(units, 'unit')}`),
    ],
    ['payment', shown(receipt.tx_hash)],
    ...explorerPairs(network, receipt.tx_hash, gateway),
    ['by', shown(receipt.payer_pubkey)],
    ['confirmed', shown(receipt.confirmed_at)],
    ['signed by', `${receipt_signer_pubkey}, a trusted key; the signature is valid`],
  ])
}
