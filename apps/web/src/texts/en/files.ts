import { common } from './common.ts'

const files = (number: number) => common.counted(number, 'file')
const entries = (number: number) => common.counted(number, 'entry', 'entries')

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
    foundMore: (number: number) => `${files(number)} found so far, by name`,
    sorting: (count: string) => `${count}, sorting…`,
    onlyByName: (count: string, most: number) =>
      `${count}, by name (up to ${common.number(most)} can be sorted otherwise)`,
    noBytes: 'no bytes yet',
    notConfirmed: 'not confirmed',
    notYet: 'not yet',
    inStatement: {
      text: (sequence: number) => `in no. ${sequence}`,
      title: (sequence: number) => `The gateway reports it in statement ${sequence}. Check it.`,
    },
    likelyInStatement: {
      text: (sequence: number) => `likely in no. ${sequence}`,
      title: (sequence: number) =>
        `Recorded before statement ${sequence}. Names may have changed since then: check whether it is in the statement.`,
    },
    empty: {
      title: 'No files yet',
      text: 'Drop files or folders here, or choose them with the buttons above.',
    },
    emptyFolder: { title: 'This folder is empty', text: 'A folder exists as long as it contains a file.' },
    nothingFound: { title: 'No name contains this', text: 'Search covers the names in this folder and below it.' },
  },
  upload: {
    files: 'Upload files',
    folder: 'Upload a folder',
    newFolder: 'New folder',
    drop: 'Drop files and folders here to upload them',
    unreadable: (number: number) =>
      number === 1
        ? 'The browser could not read one file or folder. The rest is being uploaded.'
        : `The browser could not read ${common.number(number)} files or folders. The rest is being uploaded.`,
  },
  uploads: {
    title: 'Uploads',
    fold: (isOpen: boolean) => (isOpen ? 'Hide the list' : 'Show the list'),
    list: 'Files being uploaded',
    total: (done: number, all: number, bytes: string, ofBytes: string) =>
      `${common.number(done)} of ${files(all)} · ${bytes} of ${ofBytes}`,
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
    resumed: (bytes: string) => `${bytes} already uploaded`,
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
    decide: 'Choose what to do',
    decideLabel: (name: string) => `Choose what to do with ${name}`,
    retryLabel: (name: string) => `Try again: ${name}`,
    more: (number: number) => `and ${common.number(number)} more`,
  },
  unfinished: {
    title: 'Unfinished uploads',
    text: 'These uploads were interrupted. They continue where they stopped once you choose the same files again.',
    continue: 'Continue',
    choose: 'Choose the files again',
    forget: 'Forget them',
    needsKey: 'Some of them are encrypted. Turn encryption on with the same key first.',
    noMatch: 'No name matches an unfinished upload. Choose the same files again.',
    changed: (number: number) =>
      number === 1
        ? 'One file has changed since then: its size or time is different. Upload it as a new file.'
        : `${files(number)} have changed since then: their sizes or times are different. Upload them as new files.`,
  },
  conflicts: {
    title: (number: number) =>
      number === 1 ? 'A file with this name already exists' : `${files(number)} with these names already exist`,
    more: (number: string) => `and ${number} more`,
    keepBoth: 'Keep both',
    replace: 'Replace',
    skip: 'Skip',
    hint: 'If you keep both, a number is added to the name of the new file. If you replace the old file, its content is gone; statements still contain its hash.',
    allSkipped: 'Nothing to upload',
  },
  key: {
    title: { encrypt: 'Encrypt uploads', decrypt: 'Open encrypted files' },
    text: {
      encrypt:
        'Files are encrypted in this page, in the age format, before they are uploaded. Their names stay readable and get “.age” at the end.',
      decrypt: 'Files are decrypted in this page. The key is not sent anywhere and is deleted when you leave.',
    },
    kind: 'Kind of key',
    kinds: { wallet: 'The key that unlocked the locker', passphrase: 'A passphrase', identity: 'An age key' },
    passphrase: 'Passphrase',
    again: 'Repeat the passphrase',
    identity: 'Age key',
    identityHint: 'The text of a key file: a line that begins with AGE-SECRET-KEY-1.',
    recipients: 'Others who can open the files',
    recipientsHint: 'Their age recipients (age1…), separated by spaces. Optional.',
    walletHint: 'It signs a fixed text, which is not sent anywhere. A wallet asks twice.',
    warning: 'Nobody can recover the files without the key: keep it somewhere safe.',
    use: { encrypt: 'Encrypt with it', decrypt: 'Open with it' },
    off: 'Encrypt',
    on: {
      wallet: 'Encrypting with your key',
      passphrase: 'Encrypting with a passphrase',
      identity: 'Encrypting with an age key',
    },
    errors: {
      empty: 'Enter a passphrase.',
      differ: 'The two passphrases differ.',
      identity: 'This is not an age key. Age keys begin with AGE-SECRET-KEY-1.',
      recipient: 'One of these is not an age recipient. Age recipients begin with age1.',
      wallet: 'This key signs the same text differently each time. Use a passphrase or an age key.',
    },
  },
  selection: {
    label: 'Selected files',
    count: (number: number) => `${entries(number)} selected`,
    clear: 'Clear selection',
    all: 'Select all',
    zip: 'Download as a zip',
    move: 'Move',
  },
  folder: {
    title: 'New folder',
    name: 'Name',
    hint: 'It is stored with the first file that you upload into it.',
    create: 'Open the new folder',
  },
  move: {
    title: (number: number) => `Move ${entries(number)}`,
    to: 'To the folder',
    hint: 'Leave it empty for the top. A folder that does not exist is created.',
    move: 'Move',
    tooMany: (most: number) => `At most ${common.number(most)} files can be moved at once. Select fewer.`,
    taken: 'A file with one of these names already exists there. Nothing was moved.',
    done: (number: number) => `${files(number)} moved`,
  },
  deletion: {
    label: 'Deleting',
    pending: (number: number) =>
      `${entries(number)} will be deleted. Leaving the page deletes ${number === 1 ? 'it' : 'them'} immediately.`,
    seconds: (seconds: number) => `${seconds} s`,
    undo: 'Undo',
    now: 'Delete now',
    failed: (number: string) => `Not deleted: ${number}`,
    skipped: (number: number) =>
      number === 1
        ? '1 file was not deleted because it has changed since then'
        : `${files(number)} were not deleted because they have changed since then`,
  },
  download: {
    running: (bytes: string) => `Downloading: ${bytes}`,
    saved: 'Downloaded; the hash matches',
    decrypted: 'Downloaded and decrypted; the hash matches',
    'by-browser': 'The browser is downloading it',
    cancelled: 'Nothing was downloaded',
  },
  details: {
    title: 'File',
    encrypted: 'This file is encrypted.',
    setKey: 'Enter the key',
    giveOther: 'Enter another key',
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
      'Computed here: the hash of this file leads to the root of the newest statement, which is signed with a key that this gateway shows. The verify page checks whether you trust that key, and whether the statement is published.',
    proofUnsigned:
      'Computed here: the hash of this file leads to the root that this gateway names. No signed statement covers the file, so this shows only that the gateway agrees with itself.',
    otherBytes: 'The newest statement has another hash for this name.',
    notInStatement: 'The newest statement does not name this file yet.',
    verify: 'Check the statements of this locker',
  },
  preview: {
    image: (name: string) => `Picture: ${name}`,
    text: (name: string) => `Text of ${name}`,
    cut: 'Only the beginning is shown.',
    encrypted: 'The file is encrypted.',
    notAnImage: 'The browser cannot show this picture.',
    notText: 'This is not text.',
  },
  rename: {
    title: 'Rename a file',
    name: 'New name',
    hint: 'A slash creates a folder. The content and its hash stay the same.',
    wrong: (problem: string) => `The name ${problem}.`,
    taken: 'A file with this name already exists.',
    replace: 'Replace it',
    rename: 'Rename',
    done: 'Renamed',
  },
  problems: {
    name: (problem: string) => [
      'The gateway does not accept this file name',
      `The name ${problem.replace(/^filename /, '')}.`,
    ],
    nameTaken: [
      'A file with this name already exists',
      'It was uploaded while yours was waiting. Nothing was replaced. Rename your file and try again.',
    ],
    differs: [
      'The downloaded file does not match its record',
      'Its hash differs from the one that the gateway recorded. Nothing was saved. Try again, and do not rely on this content.',
    ],
    wrongKey: [
      'This key does not open the file',
      'The file is encrypted for another key or with another passphrase. Use that one.',
    ],
    damaged: [
      'The encrypted file is damaged',
      'It is incomplete or was changed. Nothing was saved. Ask its owner to upload it again.',
    ],
    noBytes: ['The file has no content yet', 'Its upload was not finished. Upload it again.'],
    tooMuchForZip: [
      'This is too much for one archive in this browser',
      'Select fewer files, or use the command “svc get”.',
    ],
    tooLargeHere: [
      'This file is too large to decrypt in this browser',
      'Use a browser that lets pages write files, or the command “svc get --decrypt”.',
    ],
    unreadable: [
      'The file can no longer be read',
      'It was changed, moved or removed on this computer. Choose it again.',
    ],
  } satisfies Record<string, Problem | ((problem: string) => Problem)>,
}

/** What went wrong, and what to do next. */
type Problem = readonly [title: string, next: string]
