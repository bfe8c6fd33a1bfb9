import type { Stats } from '@svc/api/info'
import type { LogState } from '@svc/api/log'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/welcome'
import { urlOf } from '../../address.ts'
import { resource } from '../../gateway.ts'

const t = texts.numbers
const REFRESH_MS = 60_000

const stats = resource<Stats>('/v1/stats')
const log = resource<LogState>('/v1/log')

/** The numbers, refreshed each minute while the page is visible. */
export function Numbers() {
  useEffect(() => {
    const load = () => Promise.all([stats.load(), log.load()])
    void load()
    const timer = setInterval(() => document.hidden || void load(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  const { value } = stats.now
  if (value.state === 'failed') return <p class="numbers-failed">{t.failed}</p>
  const { lockers, files_proven, last_anchor } = value.state === 'ready' ? value.value : NOTHING_YET
  const entries = log.now.value.state === 'ready' ? log.now.value.value.size : null
  const anchor = last_anchor ? t.ago(Date.now() - Date.parse(last_anchor.sent_at)) : t.never
  return (
    <section class="numbers" aria-label={t.title} aria-busy={value.state === 'loading'}>
      <Figure value={shown(lockers)} label={t.lockers(lockers)} />
      <Figure value={shown(files_proven)} label={t.files(files_proven)} />
      <Figure value={value.state === 'ready' ? anchor : '–'} label={t.anchor} />
      <Figure value={shown(entries)} label={<a href={urlOf('/log')}>{t.entries(entries)}</a>} />
    </section>
  )
}

const NOTHING_YET: Stats = { lockers: null, files_proven: null, last_anchor: null, as_of: null }

function shown(number: number | null): string {
  return number === null ? '–' : common.number(number)
}

function Figure({ value, label }: { value: string; label: ComponentChildren }) {
  return (
    <p class="number-box">
      <b>{value}</b> <span>{label}</span>
    </p>
  )
}
