export { Button, ButtonLink, Copy } from './Button';
export { Confirm, Dialog } from './Dialog';
export {
  Badge, Code, Empty, ErrorNote, Note, Progress, type Shape, Skeleton, Status, toast, toastBefore, type Tone,
} from './Feedback';
export { Checkbox, Field, Input, Select, Textarea } from './Field';
export { Finder, Pick } from './Finder';
export { find, type Findable } from './finding';
export { Icon, type IconName } from './icons';
export { editable, layered, onKeys, onPageKeys, useTyped } from './keys';
export { Menu, type MenuItem } from './Menu';
export * from './numbers';
export { Page, Section, Tabs, Toolbar } from './Page';
export { Panel, Split } from './Panel';
export { Popover } from './Popover';
export { afterPress } from './press';
export { sortRows, Table, type Column, type Sort } from './Table';
export { Facts, Kbd, Num, Time, useNow } from './Values';
