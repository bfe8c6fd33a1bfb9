import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/log'
import { safeDecode } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty, ErrorState, Loading } from '../../ui/states.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { Found } from './entry-card.tsx'
import { EntryList } from './entry-list.tsx'
import { GrowthNote } from './growth.tsx'
import { HeadCard, VouchingCard } from './head.tsx'
import { createLogView, type LogView, type ReadyLog } from './log-view.ts'
import './log.css'

export default function Log() {
  const view = useMemo(createLogView, [])
  useEffect(() => {
    document.title = `${t.title} · ${frame.name}`
    const lookUp = () => void view.lookUp(wantedHere())
    addEventListener('hashchange', lookUp)
    void view.read().then(lookUp)
    return () => removeEventListener('hashchange', lookUp)
  }, [])
  const { value } = view.reading
  return (
    <div class="wide log">
      <header class="log-head">
        <div class="stack">
          <h1>{t.heading}</h1>
          <p class="log-lead">{t.lead}</p>
        </div>
        {value.state === 'ready' && (
          <Button onClick={() => void view.read()} busy={view.isBusy.value}>
            {t.again}
          </Button>
        )}
      </header>
      <Content view={view} />
    </div>
  )
}

/** The entry in the hash of the address, which is not sent anywhere. */
function wantedHere(): string {
  return safeDecode(location.hash.slice(1)).trim()
}

function Content({ view }: { view: LogView }) {
  const { value } = view.reading
  const retry = () => void view.read().then(() => view.lookUp(wantedHere()))
  if (value.state === 'loading') return <Loading label={t.loading} />
  if (value.state === 'unreadable') return <ErrorState title={t.unreadable} text={t.unreadableText} retry={retry} />
  if (value.state === 'not_of_log')
    return <ErrorState title={t.notOfLog} text={t.notOfLogText(value.why)} retry={retry} />
  return <Ready view={view} ready={value} />
}

function Ready({ view, ready }: { view: LogView; ready: ReadyLog }) {
  const { log } = ready
  const { head } = log
  const { value } = view.searchResult
  return (
    <>
      <GrowthNote ready={ready} accept={() => view.accept(ready)} />
      {head && head.size > 0 ? (
        <>
          <div class="log-columns">
            <HeadCard log={log} head={head} />
            <VouchingCard {...log} />
          </div>
          <SearchCard view={view} size={head.size} />
          <Found view={view} ready={ready} />
          <EntryList
            key={head.text}
            log={log}
            head={head}
            shown={value?.state === 'found' ? value.entry.index : null}
          />
        </>
      ) : (
        <Empty title={t.empty} text={t.emptyText} />
      )}
    </>
  )
}

function SearchCard({ view, size }: { view: LogView; size: number }) {
  const s = t.search
  const text = useSignal(wantedHere())
  const problem = useSignal<string | null>(null)
  const result = view.searchResult.value
  useEffect(() => {
    problem.value = result?.state === 'bad' ? s.bad : result?.state === 'no_index' ? s.noIndex(size) : null
  }, [result, size])
  const submit = (event: Event) => {
    event.preventDefault()
    const wanted = text.value.trim()
    // Look up the same text again.
    if (wanted === wantedHere()) void view.lookUp(wanted)
    else location.hash = wanted
  }
  return (
    <Card title={s.title}>
      <form class="log-search" onSubmit={submit}>
        <TextField label={s.label} hint={s.hint} text={text} problem={problem} />
        <Button kind="primary" type="submit">
          <Icon name="search" />
          {s.submit}
        </Button>
      </form>
    </Card>
  )
}
