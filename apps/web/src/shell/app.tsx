// The frame of every page, with the current page.

import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/frame'
import { currentPath, urlOf } from '../address.ts'
import { index } from '../gateway.ts'
import { followLinks, matchPath } from '../router.ts'
import type { PageProps, Route } from '../routes.ts'
import { DropTarget } from '../search/drop-target.tsx'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icons.tsx'
import { Empty, ErrorState, Loading } from '../ui/states.tsx'
import { Toasts } from '../ui/toast.tsx'
import { nextTheme, theme } from './theme.ts'

export function App() {
  useEffect(() => {
    document.addEventListener('click', followLinks)
    return () => document.removeEventListener('click', followLinks)
  }, [])
  return (
    <DropTarget>
      <button type="button" class="skip" onClick={skipToMain}>
        {t.skip}
      </button>
      <Header />
      <main id="main" tabIndex={-1}>
        <CurrentPage />
      </main>
      <Footer />
      <Toasts />
    </DropTarget>
  )
}

/** A button instead of a link, because pages use the hash of the address. */
function skipToMain() {
  document.getElementById('main')?.focus()
}

function Header() {
  const { value } = index.now
  const environment = value.state === 'ready' ? value.value.environment : null
  const path = currentPath.value
  return (
    <header class="top">
      <div class="top-inner">
        <a class="brand" href={urlOf('/')}>
          <span class="brand-mark">
            <Icon name="box" />
          </span>
          {t.name}
        </a>
        {environment === 'development' && <span class="pill pill-warn">{t.development}</span>}
        <nav aria-label={t.navigation}>
          {NAVIGATION.map(({ to, label }) => (
            <a key={to} href={urlOf(to)} aria-current={isWithin(path, to) ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <Button kind="quiet" onClick={nextTheme} label={t.theme[theme.value]}>
          <Icon name={theme.value} />
        </Button>
      </div>
    </header>
  )
}

/** Whether a path is a page or below it, so that its navigation entry is marked. */
function isWithin(path: string, page: string): boolean {
  return path === page || (page !== '/' && path.startsWith(`${page}/`))
}

const NAVIGATION = [
  { to: '/', label: t.home },
  { to: '/buy', label: t.buy },
  { to: '/locker', label: t.locker },
  { to: '/verify', label: t.verify },
  { to: '/docs', label: t.api },
]

function Footer() {
  const { value } = index.now
  const agentUrl = value.state === 'ready' ? value.value.agent_url : undefined
  return (
    <footer>
      <div class="footer-inner">
        <span>{t.tagline}</span>
        <ul class="links">
          {MACHINE_LINKS.map(({ to, label }) => (
            <li key={to}>
              <a href={urlOf(to)}>{label}</a>
            </li>
          ))}
          <li>
            <a href={urlOf('/log')}>{t.log}</a>
          </li>
          {agentUrl && (
            <li>
              <a href={urlOf('/agent')}>{t.agent}</a>
            </li>
          )}
          <li>
            <a href={urlOf('/admin')}>{t.admin}</a>
          </li>
        </ul>
      </div>
    </footer>
  )
}

const MACHINE_LINKS = [
  { to: '/.well-known/svc.json', label: t.index },
  { to: '/openapi.json', label: t.openApi },
  { to: '/v1/keys', label: t.keys },
  { to: '/health', label: t.health },
]

function CurrentPage() {
  const match = matchPath(currentPath.value)
  if (!match)
    return (
      <Empty title={t.notFound} text={t.notFoundText} isPage>
        <a class="button" href={urlOf('/')}>
          {t.toHome}
        </a>
      </Empty>
    )
  return <LoadedPage key={match.route.path} route={match.route} params={match.params} />
}

function LoadedPage({ route, params }: { route: Route; params: PageProps['params'] }) {
  const page = useSignal<{ Page: ComponentType<PageProps> } | { error: Error } | null>(null)
  const load = () => {
    page.value = null
    route.load().then(
      (module) => {
        page.value = { Page: module.default }
      },
      (error: Error) => {
        page.value = { error }
      },
    )
  }
  useEffect(load, [])
  if (page.value === null) return <Loading label={common.states.loading} />
  // After an update of the gateway, files of the previous build are gone.
  if ('error' in page.value)
    return <ErrorState title={t.updated} text={t.updatedText} retry={() => location.reload()} retryLabel={t.reload} />
  const { Page } = page.value
  return <Page params={params} />
}
