// The verify page, independent of its host: the gateway's pages, or a saved file.

import type { ComponentChildren } from 'preact'
import { texts as t } from '#texts/verify'
import { Tabs } from '../../ui/tabs.tsx'
import { toast } from '../../ui/toast.tsx'
import { Banner } from './banner.tsx'
import type { Checking } from './checking.ts'
import { readDrop } from './dropped.ts'
import { Facts } from './facts.tsx'
import { FilesCard } from './files-card.tsx'
import { KeysCard } from './keys.tsx'
import { Listing } from './listing.tsx'
import { NodeCard } from './node-card.tsx'
import { ForeignCard, OpenCard, type Site } from './open-card.tsx'
import { Differences } from './pictures/differences-view.tsx'
import { shownStatement } from './pictures/history-chain.ts'
import { ReceiptCard } from './receipt-card.tsx'
import { Summary } from './summary.tsx'
import type { CheckedBundle } from './worker/messages.ts'
import './verify.css'

interface ViewProps {
  checking: Checking
  site: Site | null
  /** Additional tabs from the gateway. */
  more?: (bundle: CheckedBundle) => { name: string; content: ComponentChildren }[]
  children: ComponentChildren
}

export function VerifyView({ checking, site, more = () => [], children }: ViewProps) {
  const { opened, pending, result, activity } = checking
  const bundle = result.value?.refused === null ? result.value : null
  const digest = bundle?.envelope?.statement_digest
  // Only for a bundle of this gateway: the page must not reveal the owner of another bundle.
  const isOwn = opened.value?.source.kind === 'receipt'
  const logUrl = site && isOwn && digest !== undefined ? site.urlOf(`/log#${digest}`) : null
  // Nothing that is visible may move when the result arrives.
  const isWaiting = activity.value !== null && !bundle
  const hasNames = bundle?.redacted?.redaction !== 'no_names'
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons of the first step do the same.
    <div
      class={isWaiting ? 'wide verify verify-waiting' : 'wide verify'}
      onDragOver={(event) => bundle && event.preventDefault()}
      onDrop={(event) => bundle && compareDropped(checking, event)}
    >
      <header class="verify-head">
        <h1>{t.heading}</h1>
        <p class="verify-lead no-print">{t.lead}</p>
      </header>
      <Banner checking={checking} />
      {pending.value && <ForeignCard checking={checking} source={pending.value} />}
      {!pending.value && !bundle && !activity.value && <OpenCard checking={checking} site={site} />}
      <div class={bundle ? 'verify-steps no-print' : 'verify-tools no-print'}>
        {bundle && <FilesCard checking={checking} bundle={bundle} />}
        <KeysCard checking={checking} bundle={bundle} />
        {bundle && <NodeCard checking={checking} bundle={bundle} />}
      </div>
      {bundle && opened.value && (
        <div class="verify-columns">
          <Summary checking={checking} opened={opened.value} bundle={bundle} />
          {!bundle.redacted && <ReceiptCard checking={checking} />}
        </div>
      )}
      {bundle && <Facts bundle={bundle} isBusy={activity.value !== null} logUrl={logUrl} />}
      {bundle && (
        <section class="card no-print" aria-label={t.tabs.label}>
          <Tabs
            label={t.tabs.label}
            tabs={[
              { name: t.tabs.files, content: <Listing checking={checking} hasNames={hasNames} /> },
              ...more(bundle),
              // A redacted bundle hides files, so their differences are unknown.
              ...(opened.value && !bundle.redacted
                ? [{ name: t.tabs.differences, content: <BundleDifferences checking={checking} bundle={bundle} /> }]
                : []),
            ]}
          />
        </section>
      )}
      <div class="no-print">{children}</div>
    </div>
  )
}

/** A file that is dropped beside the zones is looked up in the open bundle, unless it is a bundle itself. */
function compareDropped(checking: Checking, event: DragEvent): void {
  const { dataTransfer } = event
  if (event.defaultPrevented || !dataTransfer || dataTransfer.files.length === 0) return
  if (dataTransfer.files.length === 1 && /\.json$/i.test(dataTransfer.files[0]?.name ?? '')) return
  event.preventDefault()
  void readDrop(dataTransfer).then(
    ({ files, isComplete }) => checking.compare(files, isComplete),
    () => toast(t.files.none),
  )
}

function BundleDifferences({ checking, bundle }: { checking: Checking; bundle: CheckedBundle }) {
  const { worker, opened, pins } = checking
  const { value } = opened
  if (!value) return null
  const { source } = value
  const urlOfSequence =
    source.kind === 'receipt'
      ? (sequence: number) => {
          const url = new URL(source.url)
          url.searchParams.set('sequence', String(sequence))
          return url.href
        }
      : null
  return (
    <Differences
      worker={worker}
      bundle={value.bundle}
      shown={shownStatement(bundle.envelope)}
      urlOfSequence={urlOfSequence}
      pins={pins.value}
    />
  )
}
