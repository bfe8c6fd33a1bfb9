// The admin page: the state of the business and the gateway, for internal identities only.

import { useSignal } from '@preact/signals'
import type { AdminIdentity } from '@svc/api/operations'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts as t } from '#texts/admin'
import { texts as frame } from '#texts/frame'
import { index } from '../../gateway.ts'
import { useHash } from '../../hash.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty, ErrorState, Loading } from '../../ui/states.tsx'
import { ActionDialogs } from './action.tsx'
import { type refusal, signedIn, signIn, signOut, storedToken } from './identity.ts'
import { newestReading, refresh, useLive } from './live.ts'
import { sectionName } from './location.ts'
import { failureText, OPERATIONS, type SectionProps } from './parts.tsx'
import { Attestations } from './sections/attestations.tsx'
import { Audit } from './sections/audit.tsx'
import { Jobs } from './sections/jobs.tsx'
import { Keys } from './sections/keys.tsx'
import { Lockers } from './sections/lockers.tsx'
import { Overview } from './sections/overview.tsx'
import { Payments } from './sections/payments.tsx'
import { Prices } from './sections/prices.tsx'
import { Providers } from './sections/providers.tsx'
import { Routes } from './sections/routes.tsx'
import { Sales } from './sections/sales.tsx'
import { Treasury } from './sections/treasury.tsx'
import { SignIn } from './sign-in.tsx'
import './admin.css'

const SECTIONS: Readonly<Record<keyof typeof t.sections, ComponentType<SectionProps>>> = {
  overview: Overview,
  sales: Sales,
  treasury: Treasury,
  lockers: Lockers,
  attestations: Attestations,
  jobs: Jobs,
  providers: Providers,
  keys: Keys,
  prices: Prices,
  routes: Routes,
  payments: Payments,
  audit: Audit,
}
type SectionName = keyof typeof SECTIONS

const MENU: readonly [group: string, sections: readonly SectionName[]][] = [
  [t.groups.business, ['overview', 'sales', 'treasury', 'lockers']],
  [t.groups.health, ['attestations', 'jobs', 'providers', 'keys', 'prices', 'routes']],
  [t.groups.control, ['payments', 'audit']],
]

export default function Admin() {
  useHash()
  const { value } = index.now
  const isDevelopment = value.state === 'ready' && value.value.environment === 'development'
  const hasTried = useSignal(signedIn.peek() > 0)
  useEffect(() => {
    document.title = `${t.title} · ${frame.name}`
    if (hasTried.value || value.state === 'loading') return
    hasTried.value = true
    const stored = storedToken()
    if (stored !== null) signIn(stored, true)
    else if (isDevelopment) signIn(null, false)
  }, [value.state])
  if (!hasTried.value) return <Loading label={t.session.checking} />
  if (signedIn.value === 0) return <SignIn mayGoWithout={isDevelopment} />
  return <Session key={signedIn.value} />
}

function Session() {
  const { value, error } = useLive<AdminIdentity>(`${OPERATIONS}/identity`, undefined, 60_000)
  if (!value && error?.status === 0)
    return <ErrorState title={t.session.failed} text={failureText(error)} retry={refresh} />
  // Any other error is about this token.
  if (!value && error) return <Refused error={error} />
  if (!value) return <Loading label={t.session.checking} />
  return <Sections identity={value} />
}

function Refused({ error }: { error: NonNullable<typeof refusal.value> }) {
  useEffect(() => signOut(error), [])
  return null
}

function Sections({ identity }: { identity: AdminIdentity }) {
  const name = sectionName() || 'overview'
  const Section = Object.hasOwn(SECTIONS, name) ? SECTIONS[name as SectionName] : null
  const title = Section ? t.sections[name as SectionName] : t.noSection
  const heading = useRef<HTMLHeadingElement>(null)
  const shown = useRef(name)
  useEffect(() => {
    document.title = `${title} · ${t.title} · ${frame.name}`
    if (shown.current === name) return
    shown.current = name
    scrollTo(0, 0)
    heading.current?.focus({ preventScroll: true })
  }, [name])
  return (
    <div class="ops">
      <Side current={name} identity={identity} />
      <div class="ops-view">
        <header class="ops-head">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          <Freshness />
        </header>
        <div class="ops-section" key={name}>
          {Section ? <Section mayAct={identity.may_act} /> : <Empty title={t.noSection} text={t.noSectionText} />}
        </div>
      </div>
      <ActionDialogs />
    </div>
  )
}

function Freshness() {
  const readAt = newestReading.value
  return (
    <p>
      {readAt !== null && `${t.live.updated(readAt)}. `}
      {t.allUtc}
    </p>
  )
}

function Side({ current, identity }: { current: string; identity: AdminIdentity }) {
  const isOpen = useSignal(false)
  const close = () => {
    isOpen.value = false
  }
  return (
    <nav class={isOpen.value ? 'ops-side ops-open' : 'ops-side'} aria-label={t.menu}>
      <button
        type="button"
        class="ops-toggle"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        {t.menu}
        <Icon name={isOpen.value ? 'close' : 'menu'} />
      </button>
      {MENU.map(([group, sections]) => (
        <section key={group} aria-label={group}>
          <h2>{group}</h2>
          <ul>
            {sections.map((name) => (
              <li key={name}>
                <a href={`#${name}`} aria-current={name === current ? 'page' : undefined} onClick={close}>
                  {t.sections[name]}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <div class="ops-who">
        <span>
          {t.session.as} <b>{identity.identity}</b> ({t.session.kinds[identity.kind]})
        </span>
        <span>{identity.may_act ? t.session.mayAct : t.session.readOnly}</span>
        <Button onClick={() => signOut()}>{t.session.signOut}</Button>
      </div>
    </nav>
  )
}
