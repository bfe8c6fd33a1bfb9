// Parts that several sections use.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { texts as t } from '#texts/admin'
import { common } from '#texts/common'
import { Button } from '../../ui/button.tsx'
import { ErrorState, Loading } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { saveText } from './csv.ts'
import { askText } from './identity.ts'
import { type Live, refresh } from './live.ts'

export interface SectionProps {
  mayAct: boolean
}

/** Shows a value when it is loaded. After a failure the previous value stays, marked as not current. */
export function Shown<T>({ live, children }: { live: Live<T>; children: (value: T) => ComponentChildren }) {
  const { value, readAt, error } = live
  if (value === null) {
    if (!error) return <Loading label={common.states.loading} />
    return <ErrorState title={t.live.failed} text={failureText(error)} retry={refresh} />
  }
  return (
    <>
      {error && readAt !== null && (
        <Notice tone="warn" title={t.live.stale(readAt)}>
          {t.live.staleText(failureText(error))}
        </Notice>
      )}
      {children(value)}
    </>
  )
}

/** The error with its hint, if the gateway sent one. */
export function failureText({ status, message, hint }: NonNullable<Live<unknown>['error']>): string {
  const text = status === 0 ? common.states.noAnswer : message
  return [text, hint]
    .filter(Boolean)
    .map((part) => sentence(part as string))
    .join(' ')
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`
}

interface NoticeProps {
  tone: 'info' | 'good' | 'warn' | 'bad'
  title: string
  children?: ComponentChildren
}

export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role="status">
      <b>{title}</b>
      {children && <span>{children}</span>}
    </div>
  )
}

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts-list">
      {facts.map(([name, value]) => (
        <FactRow key={name} name={name} value={value} />
      ))}
    </dl>
  )
}

function FactRow({ name, value }: { name: string; value: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}

export function When({ iso, isDay }: { iso: string | null; isDay?: boolean }) {
  if (iso === null) return <>{t.none}</>
  return <time dateTime={iso}>{isDay ? t.date(iso) : t.time(iso)}</time>
}

interface SaveProps {
  label: string
  path: () => string
  fileName: string
}

/** Saves an answer as a file. A link could not send the token. */
export function SaveButton({ label, path, fileName }: SaveProps) {
  const isBusy = useSignal(false)
  const save = async () => {
    if (isBusy.value) return
    isBusy.value = true
    try {
      saveText(fileName, await askText(path()))
    } catch (error) {
      toast(t.save.failed((error as Error).message))
    }
    isBusy.value = false
  }
  return (
    <Button busy={isBusy.value} onClick={() => void save()}>
      {isBusy.value ? t.save.busy : label}
    </Button>
  )
}

/** The text for a code; unknown codes of newer gateways stay unchanged. */
export function word(words: Readonly<Record<string, string>>, key: string): string {
  return Object.hasOwn(words, key) ? (words[key] as string) : key
}

/** A path with the query parameters that are set. */
export function query(path: string, params: Readonly<Record<string, string | number>>): string {
  const set = Object.entries(params).filter(([, value]) => value !== '')
  return `${path}${set.length > 0 ? '?' : ''}${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`
}

export const OPERATIONS = '/v1/internal/operations'
