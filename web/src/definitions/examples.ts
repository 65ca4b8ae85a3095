import type { Definition } from './model';

export interface Example {
  /** Names it in the address. */
  id: string;
  title: string;
  about: string;
  definition: Definition & { slug: string; name: string };
}

/** Definitions to begin with. Each is complete and answers at once. */
export const examples: Example[] = [
  {
    id: 'support',
    title: 'Support tickets',
    about: 'Which team answers, how soon, and whether the customer is upset.',
    definition: {
      slug: 'support-tickets', name: 'Support tickets',
      instructions: 'A message from a customer to the support team of an online shop.',
      fields: [{ key: 'subject', label: 'Subject' }, { key: 'message', label: 'Message' }],
      questions: [
        { key: 'topic', type: 'choice', text: 'What is the message about?', insufficient_information: true, options: [
          {
            key: 'delivery', label: 'Delivery',
            description: 'Where an order is, when it arrives, a parcel that is lost or damaged.',
          },
          { key: 'billing', label: 'Billing', description: 'Charges, invoices, payments and refunds.' },
          { key: 'product', label: 'Product', description: 'How something works, or that it does not work.' },
          { key: 'account', label: 'Account', description: 'Signing in, addresses, and personal data.' },
        ] },
        { key: 'urgency', type: 'scale', text: 'How soon must somebody act?', levels: [
          { key: 'low', label: 'Can wait a week' }, { key: 'medium', label: 'This week' }, { key: 'high', label: 'Today' },
        ] },
        { key: 'upset', type: 'yes_no', text: 'Is the customer upset?' },
      ],
    },
  },
  {
    id: 'moderation',
    title: 'Moderation',
    about: 'Whether a comment breaks the rules of a community, which one, and how badly.',
    definition: {
      slug: 'moderation', name: 'Moderation',
      instructions:
        'A comment that somebody posted in a public community. Judge the comment, not the person. '
        + 'Disagreement and criticism are allowed.',
      fields: [{ key: 'comment', label: 'Comment' }],
      questions: [
        { key: 'rule', type: 'choice', text: 'Which rule does the comment break?', options: [
          { key: 'none', label: 'None', description: 'The comment may stay, also when it is blunt or wrong.' },
          { key: 'harassment', label: 'Harassment', description: 'Insults, threatens or demeans a person.' },
          { key: 'hate', label: 'Hate', description: 'Attacks people for what they are: origin, religion, gender, disability.' },
          { key: 'spam', label: 'Spam', description: 'Advertises, repeats itself, or lures to another site.' },
          {
            key: 'private', label: 'Private data',
            description: 'Names the address, phone number or employer of a person without need.',
          },
        ] },
        { key: 'severity', type: 'scale', text: 'How much harm does the comment do if it stays?', levels: [
          { key: 'none', label: 'None', value: 0 }, { key: 'minor', label: 'Unpleasant', value: 1 },
          { key: 'serious', label: 'Drives people away', value: 2 }, { key: 'severe', label: 'Somebody is in danger', value: 3 },
        ] },
        { key: 'human', type: 'yes_no', text: 'Does a person need to look at the comment before it is removed?' },
      ],
    },
  },
  {
    id: 'leads',
    title: 'Lead scoring',
    about: 'How likely an inquiry is to become a customer, and what the writer wants next.',
    definition: {
      slug: 'lead-scoring', name: 'Lead scoring',
      instructions: 'An inquiry from the contact form of a company that sells software to businesses.',
      fields: [{ key: 'company', label: 'Company' }, { key: 'inquiry', label: 'Inquiry' }],
      questions: [
        { key: 'intent', type: 'scale', text: 'How close is the writer to buying?', levels: [
          { key: 'none', label: 'Wants to sell or apply for something', value: 0 },
          { key: 'curious', label: 'Only looks around', value: 1 },
          { key: 'comparing', label: 'Compares products', value: 2 }, { key: 'ready', label: 'Has a budget or a date', value: 3 },
        ] },
        { key: 'next', type: 'choice', text: 'What does the writer want next?', insufficient_information: true, options: [
          { key: 'price', label: 'A price' }, { key: 'demo', label: 'A demonstration' },
          { key: 'technical', label: 'An answer to a technical question' },
          { key: 'partner', label: 'A partnership' },
        ] },
        { key: 'decides', type: 'yes_no', text: 'Can the writer decide on a purchase?' },
      ],
    },
  },
  {
    id: 'reviews',
    title: 'Reviews',
    about: 'The sentiment of a product review, what it is about, and whether it reports a defect.',
    definition: {
      slug: 'reviews', name: 'Product reviews',
      instructions: 'A review that a customer wrote of a product.',
      fields: [{ key: 'title', label: 'Title' }, { key: 'review', label: 'Review' }],
      questions: [
        { key: 'sentiment', type: 'scale', text: 'How does the customer judge the product on the whole?', levels: [
          { key: 'very_bad', label: 'Very bad' }, { key: 'bad', label: 'Bad' }, { key: 'mixed', label: 'Mixed' },
          { key: 'good', label: 'Good' },
          { key: 'very_good', label: 'Very good' },
        ] },
        { key: 'aspect', type: 'choice', text: 'What does the review say most about?', insufficient_information: true, options: [
          { key: 'quality', label: 'Quality', description: 'Material, workmanship, how long it lasts.' },
          { key: 'price', label: 'Price', description: 'Whether it is worth its money.' },
          { key: 'use', label: 'Use', description: 'How easy it is to set up and use.' },
          { key: 'shipping', label: 'Shipping', description: 'Packaging and delivery.' },
        ] },
        { key: 'defect', type: 'yes_no', text: 'Does the customer report that the product broke or did not work?' },
      ],
    },
  },
  {
    id: 'intent',
    title: 'Language and intent',
    about: 'The language of a text and what its writer wants: the first step of a chat bot or a mailbox.',
    definition: {
      slug: 'language-intent', name: 'Language and intent',
      fields: [{ key: 'text', label: 'Text' }],
      questions: [
        { key: 'language', type: 'choice', text: 'In which language is the text written?', insufficient_information: true,
          options: [
            { key: 'en', label: 'English' }, { key: 'de', label: 'German' }, { key: 'fr', label: 'French' },
            { key: 'es', label: 'Spanish' },
            { key: 'it', label: 'Italian' }, { key: 'other', label: 'Another language' },
          ] },
        { key: 'intent', type: 'choice', text: 'What does the writer want?', insufficient_information: true, options: [
          { key: 'ask', label: 'Ask a question' }, { key: 'complain', label: 'Complain' },
          { key: 'order', label: 'Order or book something' },
          { key: 'cancel', label: 'Cancel something' }, { key: 'thank', label: 'Say thanks' },
        ] },
        { key: 'polite', type: 'yes_no', text: 'Is the text polite?' },
      ],
    },
  },
  {
    id: 'tags',
    title: 'Tags of feedback',
    about: 'Everything that a text mentions, with a probability for each tag.',
    definition: {
      slug: 'feedback-tags', name: 'Tags of feedback',
      instructions: 'Feedback of a guest of a hotel.',
      fields: [{ key: 'feedback', label: 'Feedback' }],
      questions: [
        { key: 'topics', type: 'tags', text: 'What does the feedback mention?', options: [
          { key: 'room', label: 'Room', description: 'The room, its bed, its bath, its view.' },
          { key: 'cleanliness', label: 'Cleanliness', description: 'How clean the hotel is, or how dirty.' },
          { key: 'staff', label: 'Staff', description: 'How the people who work there behave.' },
          { key: 'food', label: 'Food', description: 'Breakfast, the restaurant, drinks.' },
          { key: 'noise', label: 'Noise', description: 'How loud or quiet it is.' },
          { key: 'price', label: 'Price', description: 'What it costs, and what it is worth.' },
        ] },
        { key: 'again', type: 'yes_no', text: 'Would the guest come again?' },
      ],
    },
  },
];
