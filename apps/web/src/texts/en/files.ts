const count = new Intl.NumberFormat('en')
const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

const files = (number: number) => (number === 1 ? '1 file' : `${count.format(number)} files`)
const entries = (number: number) => (number === 1 ? '1 entry' : `${count.format(number)} entries`)

export const texts = {
  list: {
    label: 'Files of this locker',
    columns: { name: 'Name', size: 'Size', hash: 'SHA-256', statement: 'Statement', changed: 'Changed' },
    selected: 'Selected',
    select: (name: string) => `Select ${name}`,
    search: 'Search names',
    trail: 'Folders',
    top: 'All files',
    counting: 'Counting…',
    entries,
    found: (number: number) => `${files(number)} found`,
    foundMore: (number: number) => `${files(number)} found so far`,
    noBytes: 'no bytes yet',
    notConfirmed: 'not confirmed',
    notYet: 'not yet',
    inStatement: {
      text: (sequence: number) => `in no. ${sequence}`,
      title: (sequence: number) => `The gateway says that it is in statement ${sequence}. Check it.`,
    },
    beforeStatement: {
      text: (sequence: number) => `before no. ${sequence}`,
      title: (sequence: number) =>
        `Recorded before statement ${sequence}. Files have changed since; check whether it is in the statement.`,
    },
    empty: {
      title: 'No files yet',
      text: 'Drop files or folders here, or choose them with the buttons above.',
    },
    emptyFolder: { title: 'This folder is empty', text: 'A folder is there as long as a file is in it.' },
    nothingFound: { title: 'No name contains this', text: 'Search looks at names in this folder and below it.' },
  },
  upload: {
    files: 'Upload files',
    folder: 'Upload a folder',
    drop: 'Drop files and folders to upload them here',
    unreadable: (number: number) =>
      number === 1
        ? 'The browser could not read this. The rest is uploaded.'
        : `The browser could not read ${count.format(number)} files or folders. The rest is uploaded.`,
  },
  uploads: {
    title: 'Uploads',
    total: (done: number, all: number, bytes: string, ofBytes: string) =>
      `${count.format(done)} of ${files(all)} · ${bytes} of ${ofBytes}`,
    summary: (done: number, failed: number) =>
      failed === 0 ? `${files(done)} uploaded` : `${files(done)} uploaded, ${files(failed)} not uploaded`,
    states: {
      waiting: 'Waiting',
      checking: 'Computing the hash',
      sending: 'Uploading',
      paused: 'Paused',
      done: 'Uploaded',
      failed: 'Not uploaded',
    },
    kept: (bytes: string) => `${bytes} were there already`,
    progress: (name: string) => `Progress of ${name}`,
    pauseAll: 'Pause all',
    continueAll: 'Continue all',
    cancelAll: 'Cancel all',
    clear: 'Clear',
    pause: 'Pause',
    pauseLabel: (name: string) => `Pause ${name}`,
    continue: 'Continue',
    continueLabel: (name: string) => `Continue ${name}`,
    cancel: 'Cancel',
    cancelLabel: (name: string) => `Cancel ${name}`,
    retryLabel: (name: string) => `Try again: ${name}`,
    more: (number: number) => `and ${count.format(number)} more`,
  },
  unfinished: {
    title: 'Unfinished uploads',
    text: 'These uploads were interrupted. They go on where they stopped, once the same files are here again.',
    continue: 'Continue',
    choose: 'Choose the files again',
    forget: 'Forget them',
    needsKey: 'Some of them are encrypted. Turn encryption on with the same key first.',
    noMatch: 'None of these files has the name of an unfinished upload.',
    changed: (number: number) =>
      number === 1
        ? 'One file has changed since: its size or time is another. Upload it as a new file.'
        : `${files(number)} have changed since: their sizes or times are others. Upload them as new files.`,
  },
  conflicts: {
    title: (number: number) =>
      number === 1 ? 'A file of this name is there already' : `${files(number)} of these names are there already`,
    more: (number: string) => `and ${number} more`,
    keepBoth: 'Keep both',
    replace: 'Replace',
    skip: 'Skip',
    hint: 'Kept both, the new file gets a number. Replaced, the old bytes are gone; statements still name their hash.',
    allSkipped: 'Nothing to upload',
  },
  key: {
    title: { encrypt: 'Encrypt what is uploaded', decrypt: 'Open encrypted files' },
    text: {
      encrypt:
        'Files are encrypted in this page, in the age format, before anything leaves it. Their names stay readable and get “.age” at the end.',
      decrypt: 'Files are decrypted in this page. The key is sent to nobody and forgotten with the page.',
    },
    kind: 'Kind of key',
    kinds: { wallet: 'The key that unlocked the locker', passphrase: 'A passphrase', identity: 'An age key' },
    passphrase: 'Passphrase',
    again: 'Passphrase again',
    identity: 'Age key',
    identityHint: 'The text of a key file: a line that begins with AGE-SECRET-KEY-1.',
    recipients: 'Others who may open the files',
    recipientsHint: 'Their age recipients, age1…, apart by spaces. May stay empty.',
    walletHint: 'It signs a fixed text, which is sent to nobody. A wallet asks twice.',
    warning: 'Nobody can bring the files back without the key: keep it where you will find it.',
    use: { encrypt: 'Encrypt with it', decrypt: 'Open with it' },
    off: 'Encrypt',
    on: {
      wallet: 'Encrypting with your key',
      passphrase: 'Encrypting with a passphrase',
      identity: 'Encrypting with an age key',
    },
    errors: {
      empty: 'Type a passphrase.',
      differ: 'The two passphrases differ.',
      identity: 'This is not an age key.',
      recipient: 'One of these is not an age recipient: it begins with age1.',
      wallet: 'This key does not sign the same text alike each time. Use a passphrase or an age key.',
    },
  },
  selection: {
    label: 'Selected files',
    count: (number: number) => `${entries(number)} selected`,
    clear: 'Select none',
  },
  deletion: {
    label: 'Deleting',
    pending: (number: number) => `${entries(number)} will be deleted. Leaving the page deletes at once.`,
    seconds: (seconds: number) => `${seconds} s`,
    undo: 'Undo',
    now: 'Delete now',
    failed: (number: string) => `Not deleted: ${number}`,
    kept: (number: number) =>
      number === 1
        ? '1 file has changed since, so it was not deleted'
        : `${files(number)} have changed since, so they were not deleted`,
  },
  download: {
    running: (bytes: string) => `Downloading: ${bytes}`,
    saved: 'Downloaded, and its hash is right',
    decrypted: 'Downloaded and decrypted; its hash is right',
    'by-browser': 'The browser downloads it',
    cancelled: 'Nothing was downloaded',
  },
  details: {
    title: 'File',
    encrypted: 'This file is encrypted.',
    giveKey: 'Give the key',
    giveOther: 'Give another key',
    download: 'Download',
    downloadDecrypted: 'Download decrypted',
    share: 'Share',
    rename: 'Rename',
    delete: 'Delete',
    viewer: 'Open in a tab',
    size: 'Size',
    bytes: (short: string, full: string) => (/ bytes?$/.test(short) ? short : `${short} (${full} bytes)`),
    type: 'Type',
    changed: 'Changed',
    hash: 'SHA-256',
    hashName: 'the hash',
    noHash: 'not recorded yet',
    statement: 'Statement',
    checkProof: 'Check its proof',
    proofLeads:
      'Computed here: the hash of this file leads to the root of the newest statement. Whether that statement is signed and published, the verify page checks.',
    otherBytes: 'The newest statement names other bytes under this name.',
    notInStatement: 'The newest statement does not name this file yet.',
    verify: 'Check the statements of this locker',
  },
  preview: {
    image: (name: string) => `Picture: ${name}`,
    text: (name: string) => `Text of ${name}`,
    cut: 'Only the beginning is shown.',
    encrypted: 'The file is encrypted.',
    notAnImage: 'This is not a picture that the browser can show.',
    notText: 'This is not text.',
  },
  share: {
    title: 'Share a file',
    expires: 'The link works for',
    minutes: (minutes: number) =>
      minutes < 60
        ? `${minutes} minutes`
        : minutes === 60
          ? '1 hour'
          : minutes === 1440
            ? '1 day'
            : `${minutes / 60} hours`,
    public: 'as long as the public link of the locker',
    hint: 'Anybody who has the link can read this file until then.',
    publicHint:
      'Anybody who has the link can read every file of this locker whose name they know, until you rotate or close the public link.',
    encrypted: 'The file is encrypted: who gets it needs the key as well.',
    make: 'Make a link',
    link: 'the link',
    qr: 'The link as a QR code',
    until: (time: number) => `It works until ${TIME.format(time)}.`,
    endless: 'It works until the public link is rotated or closed.',
    closed: {
      title: 'The public link of this locker is closed',
      text: 'Open it in the settings, or share for a while.',
    },
  },
  rename: {
    title: 'Rename a file',
    name: 'New name',
    hint: 'A slash makes a folder. The bytes and their hash stay.',
    wrong: (problem: string) => `The name ${problem}.`,
    taken: 'There is a file of this name already.',
    replace: 'Replace it',
    rename: 'Rename',
    done: 'Renamed',
  },
  problems: {
    name: (problem: string) => [
      'The gateway keeps no file of this name',
      `The name ${problem.replace(/^filename /, '')}.`,
    ],
    differs: [
      'The bytes are not the recorded ones',
      'Their hash is another than the gateway says. Nothing was saved; try again, and do not rely on them.',
    ],
    wrongKey: ['This key does not open the file', 'It is encrypted for another key or with another passphrase.'],
    damaged: ['The encrypted file is damaged', 'It is cut off or changed. Nothing was saved.'],
    noBytes: ['The file has no bytes yet', 'Its upload was not finished. Upload it again.'],
    tooLargeHere: [
      'This browser cannot decrypt so large a file',
      'Use a browser that lets pages write files, or `svc get --decrypt`.',
    ],
    unreadable: [
      'The file cannot be read any more',
      'It was changed, moved or removed on this computer. Choose it again.',
    ],
  } satisfies Record<string, Problem | ((problem: string) => Problem)>,
}

/** What went wrong, and what to do next. */
type Problem = readonly [title: string, next: string]
