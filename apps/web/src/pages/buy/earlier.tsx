// The purchases stored in this browser: continue them, show their receipts, or remove them.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/buy'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import type { Checkout } from './checkout.ts'
import { type SavedPurchase, savedPurchases } from './saved-purchases.ts'

const t = texts.earlier

export function EarlierPurchases({ checkout }: { checkout: Checkout }) {
  const purchases = useSignal<SavedPurchase[]>([])
  const read = async () => {
    purchases.value = await savedPurchases()
  }
  useEffect(() => void read(), [])
  const removing = useSignal<SavedPurchase | null>(null)
  const isBusyElsewhere = useSignal(false)
  const close = () => {
    removing.value = null
    isBusyElsewhere.value = false
  }
  const remove = async (id: string) => {
    const isRemoved = await checkout.remove(id)
    await read()
    if (isRemoved) close()
    else isBusyElsewhere.value = true
  }
  if (purchases.value.length === 0) return null
  return (
    <Card title={t.title}>
      <div class="stack">
        <p class="field-hint">{t.text}</p>
        <Table
          caption={t.caption}
          head={[t.when, t.what, t.state, t.actions]}
          rows={purchases.value.map((purchase) => [
            <time key="when" dateTime={purchase.started}>
              {new Date(purchase.started).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' })}
            </time>,
            [t.units(purchase.order.units), purchase.order.extends && t.renewal].filter(Boolean).join(', '),
            <Status key="state" tone={purchase.receipt ? 'good' : 'warn'}>
              {purchase.receipt ? t.paid : t.unfinished}
            </Status>,
            <div key="actions" class="row">
              <a class="button" href={`#purchase=${purchase.id}`}>
                {purchase.receipt ? t.show : t.continue}
              </a>
              <Button
                kind="quiet"
                onClick={() => {
                  removing.value = purchase
                }}
              >
                {t.remove}
              </Button>
            </div>,
          ])}
        />
      </div>
      {removing.value && (
        <Dialog title={t.removeTitle} onClose={close}>
          <div class="stack">
            <p>{removing.value.receipt ? t.removeDone : t.removeOpen}</p>
            <div role="status">{isBusyElsewhere.value && <p class="field-error">{t.removeBusy}</p>}</div>
            <div class="row">
              <Button onClick={close}>{t.cancel}</Button>
              <Button onClick={() => removing.value && void remove(removing.value.id)}>{t.removeIt}</Button>
            </div>
          </div>
        </Dialog>
      )}
    </Card>
  )
}
