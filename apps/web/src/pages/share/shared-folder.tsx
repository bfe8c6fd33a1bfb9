// The files of a shared folder. The hash of the address names the file that is shown, so that the back button returns
// to the list; it is never sent.

import { useSignal } from '@preact/signals'
import type { SharedContent, SharedFile as SharedFileEntry } from '@svc/api/shares'
import { useEffect, useRef } from 'preact/hooks'
import { common } from '#texts/common'
import { texts as t } from '#texts/share'
import { safeDecode } from '../../address.ts'
import { hash, useHash } from '../../hash.ts'
import { Button } from '../../ui/button.tsx'
import { Filename, shortFilename } from '../../ui/filename.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty } from '../../ui/states.tsx'
import { encodedName } from '../view/source.ts'
import { ShareProblemState } from './share-problem.tsx'
import { lastPart, problemOf, readShare, type SharedFacts, type ShareProblem, sharedFileUrl } from './share-source.ts'
import { factsOf, SharedFile } from './shared-file.tsx'

const FILE = 'f/'
const LIST = '#list'

interface Listed {
  files: readonly SharedFileEntry[]
  /** Undefined on the last page. */
  next: string | undefined
}

export function SharedFolder({ id, first }: { id: string; first: SharedContent }) {
  useHash()
  const listed = useSignal<Listed>({ files: first.files ?? [], next: first.next_cursor })
  const name = hash.value.startsWith(FILE) ? hash.value.slice(FILE.length).split('/').map(safeDecode).join('/') : null
  const place = useRef<HTMLDivElement>(null)
  const before = useRef<string | null>(null)
  useEffect(() => {
    // The link that was followed is gone: the focus moves to the heading.
    if (before.current !== name) place.current?.querySelector('h1')?.focus()
    before.current = name
  }, [name])
  const { files } = listed.value
  // A name that is not listed, or not yet, has no facts besides those that its bytes come with.
  const file =
    name === null ? null : (files.find(({ filename }) => filename === name) ?? { ...UNKNOWN, filename: name })
  return (
    <div class="share-place" ref={place}>
      {file ? (
        <SharedFile key={name} id={id} file={factsIn(first, file)} until={first.expires_at}>
          <a class="share-back" href={LIST}>
            <Icon name="previous" />
            {t.folder.back}
          </a>
        </SharedFile>
      ) : (
        <List id={id} folder={first} listed={listed.value} onListed={(next) => (listed.value = next)} />
      )}
    </div>
  )
}

const UNKNOWN = { size_bytes: null, content_type: null, content_hash: null, uploaded_at: null }

/** The gateway answers for all files at once: if a newer file is among them, each file has to be checked. */
function factsIn({ attested }: SharedContent, file: SharedFileEntry): SharedFacts {
  return { ...file, attested: attested ? true : null }
}

interface ListProps {
  id: string
  folder: SharedContent
  listed: Listed
  onListed: (listed: Listed) => void
}

function List({ id, folder, listed: { files, next }, onListed }: ListProps) {
  const isBusy = useSignal(false)
  const problem = useSignal<ShareProblem | null>(null)
  const more = async () => {
    isBusy.value = true
    problem.value = null
    try {
      const page = await readShare(id, next)
      onListed({ files: [...files, ...(page.files ?? [])], next: page.next_cursor })
    } catch (error) {
      problem.value = problemOf(error)
    }
    isBusy.value = false
  }
  const { length } = files
  const isLast = next === undefined
  return (
    <>
      <div class="view-name">
        <p class="view-folder">{t.heading}</p>
        <h1 tabIndex={-1}>
          <Filename name={folder.name} />
        </h1>
        <p class="share-facts">{isLast ? t.folder.shown(length) : t.folder.shownSoFar(length)}</p>
        <p class="share-facts">{folder.expires_at === null ? t.endless : t.until(folder.expires_at)}</p>
      </div>
      {length === 0 && isLast ? (
        <Empty {...t.folder.empty} />
      ) : (
        <section class="card stack" aria-label={t.folder.caption}>
          <p class="share-facts">{folder.attested ? t.folder.attested : t.folder.notAttested}</p>
          <ul class="share-files" aria-label={t.folder.caption}>
            {files.map((file) => (
              <FileRow key={file.filename} id={id} file={factsIn(folder, file)} />
            ))}
          </ul>
          {problem.value && <ShareProblemState problem={problem.value} retry={() => void more()} />}
          {!isLast && problem.value === null && (
            <div class="row">
              <Button busy={isBusy.value} disabled={isBusy.value} onClick={() => void more()}>
                {isBusy.value ? common.states.loading : t.folder.more}
              </Button>
            </div>
          )}
        </section>
      )}
    </>
  )
}

function FileRow({ id, file }: { id: string; file: SharedFacts }) {
  const { filename } = file
  return (
    <li>
      <Icon name="file" />
      <span class="share-file">
        <a href={`#${FILE}${encodedName(filename)}`}>
          <Filename name={filename} />
        </a>
        <span class="share-facts">{factsOf(file)}</span>
      </span>
      <a
        class="button button-quiet"
        href={sharedFileUrl(id, filename)}
        download={lastPart(filename)}
        rel="nofollow"
        aria-label={t.downloadOf(shortFilename(filename))}
        title={t.downloadOf(shortFilename(filename))}
      >
        <Icon name="download" />
      </a>
    </li>
  )
}
