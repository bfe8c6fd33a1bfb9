// All of the page but where it is: in the gateway's pages, or in a file on somebody's disk.

import type { ComponentChildren } from 'preact'
import { texts as t } from '#texts/verify'
import { Tabs } from '../../ui/tabs.tsx'
import { Banner } from './banner.tsx'
import type { Checking } from './checking.ts'
import { Facts } from './facts.tsx'
import { FilesCard } from './files-card.tsx'
import { KeysCard } from './keys.tsx'
import { Listing } from './listing.tsx'
import { NodeCard } from './node-card.tsx'
import { ForeignCard, OpenCard, type Site } from './open-card.tsx'
import { ReceiptCard } from './receipt-card.tsx'
import { Summary } from './summary.tsx'
import type { CheckedBundle } from './worker/messages.ts'
import './verify.css'

interface ViewProps {
  checking: Checking
  site: Site | null
  /** What the gateway can show besides the bundle. */
  more?: (bundle: CheckedBundle) => { name: string; content: ComponentChildren }[]
  children: ComponentChildren
}

export function VerifyView({ checking, site, more = () => [], children }: ViewProps) {
  const { opened, pending, result, activity } = checking
  const bundle = result.value?.refused === null ? result.value : null
  const hasNames = bundle?.redacted?.redaction !== 'no_names'
  return (
    <div class="wide verify">
      <header class="verify-head">
        <h1>{t.heading}</h1>
        <p class="verify-lead">{t.lead}</p>
      </header>
      <Banner checking={checking} />
      {pending.value && <ForeignCard checking={checking} source={pending.value} />}
      {!pending.value && !bundle && !activity.value && <OpenCard checking={checking} site={site} />}
      {bundle && opened.value && <Summary checking={checking} opened={opened.value} bundle={bundle} />}
      <div class={bundle ? 'verify-columns' : 'verify-tools'}>
        {bundle && <Facts bundle={bundle} isBusy={activity.value !== null} />}
        <div class="verify-tools">
          <KeysCard checking={checking} />
          {bundle && <FilesCard checking={checking} bundle={bundle} />}
          {bundle && <NodeCard checking={checking} hasAnchor={bundle.anchor !== null} />}
          {bundle && !bundle.redacted && <ReceiptCard checking={checking} />}
        </div>
      </div>
      {bundle && (
        <section class="card" aria-label={t.tabs.label}>
          <Tabs
            label={t.tabs.label}
            tabs={[
              { name: t.tabs.files, content: <Listing checking={checking} hasNames={hasNames} /> },
              ...more(bundle),
            ]}
          />
        </section>
      )}
      {children}
    </div>
  )
}
