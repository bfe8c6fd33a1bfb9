// The page of a share, for its recipient.

import { common } from './common.ts'

const moment = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' })

export const texts = {
  title: (name: string) => `${name} · shared with you`,
  heading: 'Shared with you',
  loading: 'Opening the share…',
  until: (iso: string) => `This share works until ${moment.format(new Date(iso))}.`,
  endless: 'This share works until its sender ends it.',
  added: (iso: string) => `added ${moment.format(new Date(iso))}`,
  noType: 'no type',
  download: 'Download',
  downloadOf: (name: string) => `Download ${name}`,
  bytes: (bytes: number | null) => (bytes === null ? 'unknown size' : common.bytes(bytes)),

  folder: {
    caption: 'Files of this folder',
    back: 'All files of the folder',
    shown: (files: number) => common.counted(files, 'file'),
    shownSoFar: (files: number) => `The first ${common.counted(files, 'file')}`,
    more: 'Show more',
    empty: { title: 'This folder is empty', text: 'The sender may add files to it later.' },
    attested: 'The gateway reports that the newest statement includes all of these files.',
    notAttested: 'Some of these files are newer than the newest statement. Open a file to check it.',
  },

  encrypted: {
    title: 'This file is encrypted',
    text: 'It was encrypted with age before it was stored, and the gateway has no key. Ask the sender for the key, download the file, and open it:',
    command: 'command to open the file',
  },

  proof: {
    title: 'Proof',
    included: 'In the newest statement',
    includedText:
      'The gateway reports that its newest signed statement includes this file as it is now. Check it yourself, in your own browser.',
    none: 'Not in a statement yet',
    noneText: 'No statement includes this file as it is now. Ask the sender to attest it.',
    unknown: 'Not checked yet',
    unknownText: 'Some files of this folder are newer than the newest statement. Check whether it includes this one.',
    save: 'Download the proof',
    saveText: 'The proof has the full name of the file in its storage. It opens no other file.',
    check: 'Verify it here',
    reads: (size: number) => `Verifying reads the whole file (${common.bytes(size)}).`,
    checking: 'Reading the file',
    again: 'Verify again',
    filename: (name: string) => `${name}.proof.json`,
  },

  check: {
    about: 'Your browser read the file, computed its hash, and compared it with the signed statement.',
    otherFile: 'Do not rely on this: the proof is about another file',
    otherFileText: 'The gateway answered with a proof that does not name this file. Tell the sender.',
    noProof: 'There is no proof of this file',
    passed: 'Passed:',
    open: 'Not checked:',
    more: 'Check the rest on the verify page',
    failed: 'The check could not be finished',
    failedText: 'The connection may have been lost, or the file was replaced meanwhile. Try again.',
  },

  problems: {
    ended: {
      title: 'This share has ended, or its address is wrong',
      text: 'Shares end at the time that their sender chose, or earlier. Compare the address with the one that you received, or ask its sender for a new one.',
    },
    missing: {
      title: 'The file is no longer here',
      text: 'It was deleted or renamed after it was shared. Ask the sender for a new share.',
    },
    bytes: {
      title: 'This file is not uploaded yet',
      text: 'Its name is recorded, but its content is missing. The upload may still be running: try again later.',
    },
    takenDown: {
      title: 'This content was taken down',
      text: 'The gateway’s admin has taken it down. Its sender can ask them why.',
    },
    offline: {
      title: 'The gateway did not answer',
      text: 'Check your connection. Nothing is lost: the content stays where it is.',
    },
    other: {
      title: 'This share cannot be shown right now',
      text: 'Try again in a minute. If it keeps happening, tell the sender.',
    },
  },
}
