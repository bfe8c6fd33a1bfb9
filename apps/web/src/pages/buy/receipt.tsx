// The receipt: its content, a file to download, a page to print, and links to the next steps.

import { lockerId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { texts } from '#texts/buy'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icons.tsx'
import { networkTitle } from '../../ui/names.ts'
import { saveFile } from '../../ui/save-file.ts'
import { Term } from '../../ui/term.tsx'

const t = texts.receipt

export function ReceiptView({ receipt }: { receipt: SignedReceipt }) {
  const { receipt_id, extends: of } = receipt
  // A renewal does not have its own locker.
  const locker = lockerId(of ?? receipt_id)
  return (
    <Card title={t.title}>
      <div class="stack receipt">
        <p>{t.keep}</p>
        <div class="row no-print">
          {/* The page of lockers opens what was only paid for. */}
          <a class="button button-primary" href={urlOf(of ? `/locker/${locker}` : `/locker#open=${receipt_id}`)}>
            {of ? t.openRenewed : t.open}
            <Icon name="arrow" />
          </a>
          <Button onClick={() => download(receipt)}>{t.download}</Button>
          <Button onClick={() => print()}>{t.print}</Button>
          <a class="button" href={urlOf(`/verify/${receipt_id}`)}>
            {t.verify}
          </a>
        </div>
        {!of && <p class="field-hint no-print">{t.openHint}</p>}
        <dl class="facts">
          <Term name={t.fields.receipt_id}>
            <Copyable text={receipt_id} what={t.fields.receipt_id} />
          </Term>
          {of ? (
            <Term name={t.fields.extends}>
              <code>{of}</code>
            </Term>
          ) : (
            <Term name={t.fields.locker_id}>
              <Copyable text={locker} what={t.fields.locker_id} />
            </Term>
          )}
          <Term name={t.fields.paid}>
            {receipt.paid_amount} {receipt.pay_asset}
          </Term>
          <Term name={t.fields.network}>{networkTitle(receipt.network)}</Term>
          <Term name={t.fields.units}>{receipt.units}</Term>
          <Term name={t.fields.tx_hash}>
            <Copyable text={receipt.tx_hash} what={t.fields.tx_hash} />
          </Term>
          <Term name={t.fields.payer_pubkey}>
            <code>{receipt.payer_pubkey}</code>
          </Term>
          <Term name={t.fields.confirmed_at}>
            <time dateTime={receipt.confirmed_at}>{receipt.confirmed_at}</time>
          </Term>
          <Term name={t.fields.signature}>
            <code>{receipt.receipt_signer_pubkey}</code>
          </Term>
        </dl>
        <div class="row no-print">
          <a href="#new">{t.another}</a>
        </div>
      </div>
    </Card>
  )
}

function download(receipt: SignedReceipt): void {
  const file = new Blob([`${JSON.stringify(receipt, null, 2)}\n`], { type: 'application/json' })
  saveFile(t.filename(receipt.receipt_id), file)
}
