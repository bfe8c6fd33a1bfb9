// One locker: unlocking it, and its tabs. The hash names the tab, so that links can open it.

import { useSignal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts as frame } from '#texts/frame'
import { texts as t } from '#texts/locker'
import { nameOf } from '../../ui/locker-name.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { Access } from './access/access.tsx'
import { Files } from './files/files.tsx'
import { LockerHeader } from './header.tsx'
import { OwnerDialog } from './owner-dialog.tsx'
import { People } from './people.tsx'
import { Proof } from './proof.tsx'
import { endSession, type LockerSession, lock } from './session.ts'
import { Settings } from './settings.tsx'
import { Unlocking } from './unlocking.tsx'
import { Usage } from './usage.tsx'
import './locker.css'

const TABS = ['files', 'proof', 'people', 'access', 'usage', 'settings'] as const

export default function LockerPage({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.locker_id ?? ''
  return <OneLocker key={id} id={id} />
}

function OneLocker({ id }: { id: string }) {
  const session = useSignal<LockerSession | null>(null)
  useEffect(() => {
    document.title = `${(session.value && nameOf(session.value.facts.value)) ?? id} – ${frame.name}`
  }, [session.value])
  const isLocked = useSignal(false)
  const show = (next: LockerSession | null) => {
    if (!next) endSession()
    session.value = next
  }
  const open = session.value
  return (
    <div class="wide locker">
      {open ? (
        <>
          <LockerHeader
            session={open}
            onLock={() => {
              lock()
              isLocked.value = true
              show(null)
            }}
          />
          <LockerTabs session={open} onSession={show} />
        </>
      ) : (
        <Unlocking id={id} isLocked={isLocked.value} onSession={show} />
      )}
      <OwnerDialog />
    </div>
  )
}

interface LockerTabsProps {
  session: LockerSession
  onSession: (session: LockerSession | null) => void
}

function LockerTabs({ session, onSession }: LockerTabsProps) {
  const chosen = useSignal(tabInHash())
  useEffect(() => {
    const follow = () => {
      chosen.value = tabInHash()
    }
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  useSignalEffect(() => {
    // Keep a hash that leads into the tab.
    if (tabInHash() !== chosen.value) history.replaceState(null, '', `#${TABS[chosen.value]}`)
  })
  const contents = {
    files: <Files session={session} />,
    proof: <Proof session={session} />,
    people: <People session={session} onLock={() => onSession(null)} />,
    access: <Access session={session} onLock={() => onSession(null)} />,
    usage: <Usage session={session} />,
    settings: <Settings session={session} onSession={onSession} />,
  }
  return (
    <Tabs
      label={t.tabs.label}
      // Uploads continue while another tab is shown.
      tabs={TABS.map((tab) => ({ name: t.tabs[tab], content: contents[tab], staysMounted: tab === 'files' }))}
      chosen={chosen}
    />
  )
}

/** The tab in the hash; text after a slash belongs to the tab. */
function tabInHash(): number {
  const [name] = location.hash.slice(1).split('/')
  return Math.max(0, (TABS as readonly string[]).indexOf(name ?? ''))
}
